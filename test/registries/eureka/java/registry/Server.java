package registry;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.netflix.eureka.server.EnableEurekaServer;

/** The registry. */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableEurekaServer
public class Server {
  public static void main(String[] args) {
    SpringApplication.run(Server.class, args);
  }
}
