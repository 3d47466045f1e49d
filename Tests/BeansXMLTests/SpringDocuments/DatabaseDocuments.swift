extension SpringDocument {
  /// Pools, repositories and transactions.
  static let databases: [SpringDocument] = [
    SpringDocument(
      "a pool with placeholders", .loads(2),
      header() + """
        <bean id="pool" class="Sample.Pool">
          <property name="url" value="${jdbc.url}"/>
          <property name="user" value="${jdbc.user}"/>
          <property name="password" value="${jdbc.password:}"/>
          <property name="maxActive" value="${jdbc.max:20}"/>
        </bean>
        <bean id="orders" class="Sample.Repository"><property name="pool" ref="pool"/></bean>
        </beans>
        """),
    SpringDocument(
      "a pool by attributes", .loads(1),
      header("p") + """
        <bean id="pool" class="Sample.Pool" p:url="${jdbc.url}" p:max-active="8" p:validates="true"/>
        </beans>
        """),
    SpringDocument(
      "a pool that is closed, with a placeholder element",
      .refused(["<context:property-placeholder> is not supported", "'destroy-method' is not supported"]),
      header("context") + """
        <context:property-placeholder location="classpath:jdbc.properties" ignore-unresolvable="true"/>
        <bean id="pool" class="Sample.Pool" destroy-method="close"><property name="url" value="${jdbc.url}"/></bean>
        </beans>
        """),
    SpringDocument(
      "transactions by annotations",
      .refused([
        "<context:annotation-config> is not supported: omit it", "<context:component-scan> is not supported",
        "<tx:annotation-driven> is not supported", "'org.springframework.jdbc.datasource.DataSourceTransactionManager'",
      ]),
      header("context", "tx") + """
        <context:annotation-config/>
        <context:component-scan base-package="shop.dao"/>
        <tx:annotation-driven transaction-manager="txManager" proxy-target-class="true"/>
        <bean id="txManager" class="org.springframework.jdbc.datasource.DataSourceTransactionManager">
          <property name="dataSource" ref="pool"/>
        </bean>
        <bean id="pool" class="Sample.Pool"/>
        </beans>
        """),
    SpringDocument(
      "transactions by advice",
      .refused(["<tx:advice> is not supported: begin the transaction", "<aop:config> is not supported: decorate"]),
      header("aop", "tx") + """
        <tx:advice id="advice"><tx:attributes><tx:method name="save*" propagation="REQUIRED"/></tx:attributes></tx:advice>
        <aop:config><aop:pointcut id="all" expression="execution(* shop..*(..))"/></aop:config>
        <bean id="pool" class="Sample.Pool"/>
        </beans>
        """),
    SpringDocument(
      "properties in a placeholder bean",
      .refused(["PropertyPlaceholderConfigurer' is not supported: add a configuration source"]),
      header() + """
        <bean class="org.springframework.beans.factory.config.PropertyPlaceholderConfigurer">
          <property name="locations"><list><value>classpath:jdbc.properties</value></list></property>
          <property name="ignoreUnresolvablePlaceholders" value="true"/>
        </bean>
        <bean id="pool" class="Sample.Pool"/>
        </beans>
        """),
    SpringDocument(
      "a template of repositories", .loads(3),
      header() + """
        <bean id="base" abstract="true"><property name="pool" ref="pool"/></bean>
        <bean id="pool" class="Sample.Pool"/>
        <bean id="orders" class="Sample.Repository" parent="base"><property name="table" value="orders"/></bean>
        <bean id="archive" class="Sample.ArchiveRepository" parent="base" lazy-init="true">
          <property name="years" value="7"/>
        </bean>
        </beans>
        """),
    SpringDocument(
      "pools of profiles", .loads(2),
      header() + """
        <bean id="orders" class="Sample.Repository"><property name="pool" ref="pool"/></bean>
        <beans profile="dev, default"><bean id="pool" class="Sample.Pool"><property name="url" value="mem:"/></bean></beans>
        <beans profile="production">
          <bean id="pool" class="Sample.Pool"><property name="url" value="${jdbc.url}"/></bean>
        </beans>
        </beans>
        """),
    SpringDocument(
      "an embedded database",
      .refused(["<jdbc:embedded-database> is not supported: declare the database in Swift"]),
      header("jdbc") + """
        <jdbc:embedded-database id="pool"><jdbc:script location="classpath:schema.sql"/></jdbc:embedded-database>
        <bean id="orders" class="Sample.Repository"><property name="pool" ref="pool"/></bean>
        </beans>
        """),
    SpringDocument(
      "a pool of a container", .refused(["<jee:jndi-lookup> is not supported: declare the bean in Swift"]),
      header("jee") + """
        <jee:jndi-lookup id="pool" jndi-name="java:comp/env/jdbc/shop"/>
        </beans>
        """),
    SpringDocument(
      "settings of a mapper as props", .loads(1),
      header() + """
        <bean id="pool" class="Sample.Pool">
          <property name="settings">
            <props>
              <prop key="dialect">
                postgres
              </prop>
              <prop key="showSql">${show.sql:false}</prop>
            </props>
          </property>
        </bean>
        </beans>
        """),
    SpringDocument(
      "a pool with a password by an expression", .refused(["expressions such as #{…} are not evaluated"]),
      header() + """
        <bean id="pool" class="Sample.Pool"><property name="password" value="#{systemProperties['secret']}"/></bean>
        </beans>
        """),
    SpringDocument(
      "repositories that are generated",
      .refused(["no handler is registered for the namespace 'http://mapper.example.org/schema'"]),
      header() + """
        <m:scan xmlns:m="http://mapper.example.org/schema" base-package="shop.mapper"/>
        <m:scan xmlns:m="http://mapper.example.org/schema" base-package="shop.other"/>
        </beans>
        """),
  ]
}
