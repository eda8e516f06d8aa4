package oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import reactor.core.publisher.Mono;

import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.LoadBalancerProperties;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;

/** The health check of ServiceInstanceListSupplierBuilder.withHealthChecks over a WebClient that answers by script. */
final class HealthUrlTopic implements Topic {

	@Override
	public String name() {
		return "health-url";
	}

	@Override
	public String about() {
		return "One health check of the instance of service svc with properties health-check.path (a map) and "
				+ "health-check.port (instance secure absent: false): url is what is requested (absent: nothing), status what that is answered with "
				+ "(0: no answer, the request fails), alive whether the instance passes.";
	}

	@Override
	public void write(Vectors to) {
		for (int status : new int[] { 200, 201, 204, 206, 301, 304, 400, 401, 404, 429, 500, 503, 0 }) {
			add(to, "status", Map.of(), null, "target", 8080, false, status);
		}
		for (Map<String, String> path : List.of(Map.of("default", "/health"), Map.of("default", "health"),
				Map.of("default", ""), Map.of("default", " "), Map.of("svc", "/mine"), Map.of("svc", ""), Map.of("svc", "  "),
				Map.of("svc", "mine", "default", "/health"), Map.of("SVC", "/upper"), Map.of("DEFAULT", "/upper"),
				Map.of("other", "/other"), Map.of("default", "/health?x=y&z=1"), Map.of("default", "/a b"),
				Map.of("default", "/a%20b"), Map.of("default", "/\u00e4"), Map.of("default", "/a#f"), Map.of("default", "//x"),
				Map.of("default", "/{id}"), Map.of("svc", "", "default", "/health"), Map.of("default", "http://x/y"))) {
			add(to, "path", path, null, "target", 8080, false, 200);
			add(to, "path", path, null, "target", 8080, false, 503);
		}
		for (Integer port : new Integer[] { null, -1, 0, 80, 443, 8080 }) {
			for (boolean secure : new boolean[] { false, true }) {
				add(to, "port", Map.of(), null, "target", port == null ? 9 : port, secure, 200);
				add(to, "port", Map.of(), port == null ? 9 : port, "target", 8080, secure, 200);
			}
		}
		for (String host : List.of("10.0.0.1", "::1", "[::1]", "my_host", "Host.Example", "h\u00e4st")) {
			add(to, "host", Map.of(), null, host, 8080, false, 200);
		}
	}

	private static void add(Vectors to, String group, Map<String, String> path, Integer port, String host, int instancePort,
			boolean secure, int status) {
		Client client = new Client();
		LoadBalancerProperties.HealthCheck check = client.properties.getHealthCheck();
		check.getPath().putAll(path);
		check.setPort(port);
		check.setRepeatHealthCheck(false);
		ServiceInstance instance = new DefaultServiceInstance("i", Lab.SERVICE, host, instancePort, secure);
		List<String> requested = new ArrayList<>();
		WebClient scripted = WebClient.builder().exchangeFunction(request -> {
			requested.add(request.url().toString());
			return status == 0 ? Mono.error(new IllegalStateException())
					: Mono.just(ClientResponse.create(HttpStatusCode.valueOf(status)).build());
		}).build();
		ServiceInstanceListSupplier supplier = client.build(ServiceInstanceListSupplier.builder()
				.withBase(new Lab.Base(List.of(instance))).withHealthChecks(scripted));
		Map<String, Object> vector = Json.map("path", path.isEmpty() ? null : new TreeMap<>(path), "port", port, "instance",
				Json.map("host", host, "port", instancePort, "secure", secure ? true : null), "status", status);
		Lab.put(vector, "alive", () -> !supplier.get().blockFirst().isEmpty());
		if (!requested.isEmpty()) {
			vector.put("url", requested.get(0));
		}
		to.add(group, vector);
	}

}
