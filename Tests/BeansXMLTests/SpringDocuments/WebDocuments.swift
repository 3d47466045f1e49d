extension SpringDocument {
  /// Routes, filters and older documents.
  static let web: [SpringDocument] = [
    SpringDocument(
      "a servlet's document",
      .refused([
        "<context:component-scan> is not supported", "<mvc:annotation-driven> is not supported: declare routes",
        "<mvc:resources> is not supported", "InternalResourceViewResolver' is not supported: Spring's classes",
      ]),
      header("context", "mvc") + """
        <context:component-scan base-package="shop.web" use-default-filters="false">
          <context:include-filter type="annotation" expression="org.springframework.stereotype.Controller"/>
        </context:component-scan>
        <mvc:annotation-driven/>
        <mvc:resources mapping="/static/**" location="/static/"/>
        <mvc:resources mapping="/img/**" location="/img/"/>
        <bean class="org.springframework.web.servlet.view.InternalResourceViewResolver">
          <property name="prefix" value="/WEB-INF/views/"/><property name="suffix" value=".jsp"/>
        </bean>
        </beans>
        """),
    SpringDocument(
      "routes as a map of beans", .loads(3),
      header("p") + """
        <bean id="routes" class="Sample.Routes" p:prefix="/app" p:order="1">
          <property name="handlers"><map><entry key="/orders" value-ref="orders"/></map></property>
          <property name="filters"><list><bean class="Sample.Filter" p:pattern="/**" p:roles="user,admin"/></list></property>
        </bean>
        <bean id="orders" class="Sample.Service"/>
        </beans>
        """),
    SpringDocument(
      "routes as props", .loads(1),
      header() + """
        <bean id="routes" class="Sample.Routes">
          <property name="mappings"><props><prop key="/a.do">a</prop><prop key="/b.do">b</prop></props></property>
        </bean>
        </beans>
        """),
    SpringDocument(
      "security",
      .refused(["<security:http> is not supported: declare the checks", "<security:authentication-manager>"]),
      header("security") + """
        <security:http auto-config="true"><security:intercept-url pattern="/admin/**" access="hasRole('A')"/></security:http>
        <security:authentication-manager alias="manager"/>
        </beans>
        """),
    SpringDocument(
      "a prefix for beans", .loads(1),
      """
      <b:beans xmlns:b="http://www.springframework.org/schema/beans">
      <b:bean id="filter" class="Sample.Filter"><b:property name="roles"><b:set><b:value>user</b:value></b:set></b:property></b:bean>
      </b:beans>
      """),
    SpringDocument(
      "a document with the DTD", .loads(2),
      """
      <?xml version="1.0" encoding="ISO-8859-1"?>
      <!DOCTYPE beans PUBLIC "-//SPRING//DTD BEAN//EN" "http://www.springframework.org/dtd/spring-beans.dtd">
      <beans default-autowire="no" default-dependency-check="none">
      <bean id="one" class="Sample.Service" singleton="true" autowire="default"><property name="repository"><ref local="two"/></property></bean>
      <bean id="two" class="Sample.Repository" lazy-init="default"/>
      </beans>
      """),
    SpringDocument(
      "prototypes of the DTD", .refused(["write scope=\"prototype\"", "'dependency-check' is not supported"]),
      """
      <!DOCTYPE beans PUBLIC "-//SPRING//DTD BEAN 2.0//EN" "http://www.springframework.org/dtd/spring-beans-2.0.dtd">
      <beans>
      <bean id="one" class="Sample.Service" singleton="false"/>
      <bean id="two" class="Sample.Service" dependency-check="all"/>
      </beans>
      """),
    SpringDocument(
      "lists of the utilities",
      .refused(["<util:list> is not supported: write <list>", "<util:properties> is not supported: add a"]),
      header("util") + """
        <util:list id="names"><value>a</value><value>b</value></util:list>
        <util:list id="others"><value>c</value></util:list>
        <util:properties id="settings" location="classpath:a.properties"/>
        <bean id="service" class="Sample.Service"><property name="names" ref="names"/></bean>
        </beans>
        """),
    SpringDocument(
      "utilities inside of properties", .loads(1),
      header("util") + """
        <bean id="service" class="Sample.Service">
          <property name="names"><util:list><value>a</value></util:list></property>
          <property name="limits"><util:map key-type="java.lang.String" value-type="int"><entry key="a" value="1"/></util:map></property>
        </bean>
        </beans>
        """),
    SpringDocument(
      "imports of the class path",
      .refused(["'classpath:missing-data.xml' does not exist", "the wildcards of 'classpath*:*-beans.xml'"]),
      header() + """
        <import resource="classpath:missing-data.xml"/>
        <import resource="classpath*:*-beans.xml"/>
        </beans>
        """),
    SpringDocument(
      "everything is lazy", .loads(2),
      header().dropLast() + """
         default-lazy-init="true" default-merge="false">
        <bean id="a" class="Sample.Service" lazy-init="false"/><bean id="b" class="Sample.Filter"/>
        </beans>
        """),
    SpringDocument(
      "a scoped proxy", .refused(["<aop:scoped-proxy> is not supported: declare the dependent property as a Provider"]),
      header("aop") + """
        <bean id="cart" class="Sample.Service" scope="prototype"><aop:scoped-proxy/></bean>
        </beans>
        """),
    SpringDocument(
      "paths of properties", .refused(["'template.subject' is a path"]),
      header() + """
        <bean id="mailer" class="Sample.Mailer">
          <property name="template"><bean class="Sample.Letter"/></property>
          <property name="template.subject" value="Hello"/>
        </bean>
        </beans>
        """),
    SpringDocument(
      "metadata", .loads(1),
      header() + """
        <bean id="filter" class="Sample.Filter"><meta key="owner" value="web"/>
          <property name="pattern" value="/*"><meta key="since" value="2"/></property></bean>
        </beans>
        """),
    SpringDocument(
      "caches and messages",
      .refused(["<cache:annotation-driven> is not supported", "<jms:listener-container> is not supported"]),
      header("cache", "jms") + """
        <cache:annotation-driven/>
        <jms:listener-container><jms:listener destination="orders" ref="service"/></jms:listener-container>
        </beans>
        """),
  ]
}
