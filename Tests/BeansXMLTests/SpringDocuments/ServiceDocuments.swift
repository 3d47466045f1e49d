extension SpringDocument {
  /// Services, mail and jobs.
  static let services: [SpringDocument] = [
    SpringDocument(
      "services with setters", .loads(4),
      header() + """
        <!-- business -->
        <bean id="orderService" name="orders,orderFacade" class="Sample.Service">
          <property name="repository"><ref bean="orderRepository"/></property>
          <property name="mailer" ref="mailer"/>
        </bean>
        <bean id="orderRepository" class="Sample.Repository"/>
        <bean id="mailer" class="Sample.Mailer"/>
        <bean id="second" class="Sample.Service"><property name="name" value="second"/></bean>
        <alias name="orderService" alias="service"/>
        </beans>
        """),
    SpringDocument(
      "collections of every kind", .loads(4),
      header() + """
        <bean id="service" class="Sample.Service">
          <property name="repositories">
            <list><ref bean="one"/><ref local="two"/><bean class="Sample.ArchiveRepository"/></list>
          </property>
          <property name="limits"><map><entry key="day" value="5"/><entry><key><value>week</value></key><value>20</value></entry></map></property>
          <property name="names"><array><value>a</value><value>b</value></array></property>
          <property name="byName"><map><entry key="one" value-ref="one"/><entry key="two"><ref bean="two"/></entry></map></property>
          <property name="options"><props><prop key="mode">fast</prop></props></property>
          <property name="mailer"><null/></property>
        </bean>
        <bean id="one" class="Sample.Repository"/><bean id="two" class="Sample.Repository"/>
        </beans>
        """),
    SpringDocument(
      "merged collections", .loads(1),
      header() + """
        <bean id="parent" abstract="true" class="Sample.Service">
          <property name="options"><props><prop key="admin">a@example.org</prop><prop key="help">h@example.org</prop></props></property>
        </bean>
        <bean id="child" parent="parent">
          <property name="options"><props merge="true"><prop key="sales">s@example.org</prop></props></property>
        </bean>
        </beans>
        """),
    SpringDocument(
      "mail with an inner bean", .loads(2),
      header() + """
        <description>Sends the letters of the shop.</description>
        <bean id="mailer" class="Sample.Mailer">
          <description>The only one.</description>
          <property name="host"><value>smtp.example.org</value></property>
          <property name="port"><value type="java.lang.Integer">587</value></property>
          <property name="template">
            <bean class="Sample.Letter"><property name="text"><value><![CDATA[Dear <b>customer</b>]]></value></property></bean>
          </property>
          <property name="properties"><props><prop key="mail.smtp.auth">true</prop></props></property>
        </bean>
        </beans>
        """),
    SpringDocument(
      "life cycle methods",
      .refused(["'init-method' is not supported: conform to Bean", "'destroy-method' is not supported: conform to"]),
      header() + """
        <bean id="a" class="Sample.Service" init-method="start" destroy-method="stop"/>
        <bean id="b" class="Sample.Service" init-method="start" destroy-method="stop"/>
        </beans>
        """),
    SpringDocument(
      "defaults of life cycles and autowiring",
      .refused([
        "'default-init-method' is not supported", "'default-destroy-method' is not supported",
        "'default-autowire' is not supported",
      ]),
      header().dropLast() + """
         default-init-method="init" default-destroy-method="destroy" default-autowire="byName" default-lazy-init="true">
        <bean id="a" class="Sample.Service"/>
        </beans>
        """),
    SpringDocument(
      "static factories",
      .refused(["'factory-method' is not supported: declare the factory in Swift", "'factory-bean' is not supported"]),
      header() + """
        <bean id="clock" class="Sample.Service" factory-method="getInstance"/>
        <bean id="client" factory-bean="clock" factory-method="createClient"/>
        </beans>
        """),
    SpringDocument(
      "a factory bean", .loads(3),
      header() + """
        <bean id="pool" class="Sample.PoolFactory" target="Sample.Pool"><property name="url" value="mem:"/></bean>
        <bean id="orders" class="Sample.Repository"><property name="pool" ref="pool"/></bean>
        </beans>
        """),
    SpringDocument(
      "arguments by index", .loads(2),
      header("c") + """
        <bean id="a" parent="endpoint"><constructor-arg index="1" value="80"/><constructor-arg index="0" value="a"/></bean>
        <bean id="b" parent="endpoint" c:_0="b" c:_1="${port:81}"/>
        </beans>
        """),
    SpringDocument(
      "arguments by name",
      .refused(["'name' is not supported: use index", "'c:address' is not supported: use the index"]),
      header("c") + """
        <bean id="a" parent="endpoint">
          <constructor-arg name="address" value="a"/><constructor-arg name="port" value="80"/>
        </bean>
        <bean id="b" parent="endpoint" c:address="b" c:_1="81"/>
        </beans>
        """),
    SpringDocument(
      "arguments by type", .refused(["'type' is not supported: use index"]),
      header() + """
        <bean id="a" parent="endpoint">
          <constructor-arg type="java.lang.String" value="a"/><constructor-arg type="int" value="80"/>
        </bean>
        </beans>
        """),
    SpringDocument(
      "jobs with names of beans", .loads(3),
      header() + """
        <bean id="timetable" class="Sample.Timetable"><property name="jobs"><list><ref bean="night"/></list></property></bean>
        <bean id="night" class="Sample.Job" depends-on="service">
          <property name="target"><idref bean="service"/></property><property name="interval" value=" 60 "/>
        </bean>
        <bean id="service" class="Sample.Service" scope="singleton"/>
        </beans>
        """),
    SpringDocument(
      "jobs of a scheduler",
      .refused(["<task:scheduler> is not supported", "<task:scheduled-tasks> is not supported"]),
      header("task") + """
        <task:scheduler id="scheduler" pool-size="2"/>
        <task:scheduled-tasks scheduler="scheduler"><task:scheduled ref="job" method="run" cron="0 0 * * * *"/></task:scheduled-tasks>
        <bean id="job" class="Sample.Job"/>
        </beans>
        """),
    SpringDocument(
      "method injection", .refused(["<lookup-method> is not supported", "<replaced-method> is not supported"]),
      header() + """
        <bean id="a" class="Sample.Service"><lookup-method name="createJob" bean="job"/></bean>
        <bean id="b" class="Sample.Service"><replaced-method name="run" replacer="a"><arg-type>String</arg-type></replaced-method></bean>
        <bean id="job" class="Sample.Job" scope="prototype"/>
        </beans>
        """),
    SpringDocument(
      "qualifiers and candidates",
      .refused(["'autowire-candidate' is not supported: mark the preferred bean", "<qualifier> is not supported"]),
      header() + """
        <bean id="a" class="Sample.Pool" primary="true"/>
        <bean id="b" class="Sample.Pool" autowire-candidate="false"><qualifier value="archive"/></bean>
        </beans>
        """),
    SpringDocument(
      "services that need each other", .refused(["a circle of properties"]),
      header() + """
        <bean id="a" class="Sample.Job"><property name="service" ref="b"/></bean>
        <bean id="b" class="Sample.Service"><property name="byName"><map><entry key="x" value-ref="c"/></map></property></bean>
        <bean id="c" class="Sample.Repository" depends-on="d"/><bean id="d" class="CircleTable"><property name="guest" ref="e"/></bean>
        <bean id="e" class="CircleGuest"><property name="table" ref="d"/></bean>
        </beans>
        """),
  ]
}
