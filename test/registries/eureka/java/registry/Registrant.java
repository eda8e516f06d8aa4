package registry;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** A service that only registers, by Spring's own Eureka client. */
@SpringBootConfiguration
@EnableAutoConfiguration
public class Registrant {
  public static void main(String[] args) {
    SpringApplication.run(Registrant.class, args);
  }
}
