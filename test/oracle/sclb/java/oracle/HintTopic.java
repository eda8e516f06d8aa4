package oracle;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import reactor.core.publisher.Mono;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.DefaultRequest;
import org.springframework.cloud.client.loadbalancer.EmptyResponse;
import org.springframework.cloud.client.loadbalancer.Request;
import org.springframework.cloud.client.loadbalancer.reactive.ReactiveLoadBalancer;
import org.springframework.cloud.client.loadbalancer.reactive.ReactorLoadBalancerExchangeFilterFunction;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;
import org.springframework.http.HttpMethod;
import org.springframework.web.reactive.function.client.ClientRequest;

/**
 * HintBasedServiceInstanceListSupplier, given the requests that ReactorLoadBalancerExchangeFilterFunction makes: the
 * filter puts the configured hint into them.
 */
final class HintTopic implements Topic {

	@Override
	public String name() {
		return "hint";
	}

	@Override
	public long seed() {
		return 20_240_406;
	}

	@Override
	public String about() {
		return "Instances with these values of the metadata key hint (null: without the key), supplier hint, properties "
				+ "hint (a map, absent: none) and hint-header-name (absent: the default X-SC-LB-Hint), a request to "
				+ "http://svc/ with these headers (lists of values; headers absent: a request without any context): "
				+ "candidates are whom the policy gets, as places.";
	}

	@Override
	public void write(Vectors to) {
		List<String> three = Arrays.asList("blue", "green", "default", null, "");
		for (Map<String, List<String>> headers : List.of(Map.<String, List<String>>of(), header("X-SC-LB-Hint", "blue"),
				header("x-sc-lb-hint", "green"), header("X-SC-LB-HINT", "BLUE"), header("X-SC-LB-Hint", "none"),
				header("X-SC-LB-Hint", ""), header("X-SC-LB-Hint", "  "), header("X-SC-LB-Hint", " blue"),
				header("X-SC-LB-Hint", "default"), header("X-SC-LB-Hint", "blue", "green"),
				header("X-SC-LB-Hint", "", "green"), header("X-Other", "blue"))) {
			for (Map<String, String> configured : List.of(Map.<String, String>of(), Map.of("default", "green"),
					Map.of("svc", "blue"), Map.of("SVC", "blue", "Default", "green"), Map.of("svc", ""),
					Map.of("svc", "absent"), Map.of("other", "blue"))) {
				add(to, "header-and-property", null, configured, headers, three);
			}
		}
		for (Map<String, List<String>> headers : List.of(header("X-Version", "blue"), header("x-version", "blue"),
				header("X-SC-LB-Hint", "blue"))) {
			add(to, "header-name", "X-Version", Map.of(), headers, three);
			add(to, "header-name", "x-version", Map.of("svc", "green"), headers, three);
		}
		for (List<String> hints : List.of(Arrays.<String>asList(null, null), List.of("", ""), List.of("default", "a"),
				Arrays.asList("Default", null), List.<String>of(), List.of("default"), List.of("a", "a", "b"))) {
			add(to, "default", null, Map.of(), Map.of(), hints);
			add(to, "default", null, Map.of(), header("X-SC-LB-Hint", "a"), hints);
			add(to, "default", null, Map.of(), null, hints);
		}
		Random random = new Random(seed());
		for (int i = 0; i < 60; i++) {
			List<String> hints = Lab.some(random, random.nextInt(9), "a", "b", "A", "default", null);
			add(to, "random", null, random.nextBoolean() ? Map.of() : Map.of("svc", Lab.oneOf(random, "a", "b", "c")),
					random.nextBoolean() ? Map.of() : header("X-SC-LB-Hint", Lab.oneOf(random, "a", "b", "c", "")), hints);
		}
	}

	private static Map<String, List<String>> header(String name, String... values) {
		return Map.of(name, List.of(values));
	}

	private static void add(Vectors to, String group, String headerName, Map<String, String> configured,
			Map<String, List<String>> headers, List<String> hints) {
		List<ServiceInstance> instances = Lab.instances("hint", hints);
		Client client = new Client();
		if (headerName != null) {
			client.properties.setHintHeaderName(headerName);
		}
		client.properties.getHint().putAll(configured);
		ServiceInstanceListSupplier supplier = client.chain(new Lab.Base(instances), List.of("hint"));
		Request<?> request = headers == null ? new DefaultRequest<>(null) : throughFilter(client, headers);
		to.add(group,
				Json.map("hintHeaderName", headerName, "hint",
						configured.isEmpty() ? null : new TreeMap<>(configured), "headers", headers, "hints",
						hints, "candidates", Lab.candidates(supplier, request, instances)));
	}

	/** The request that the filter asks its balancer with. */
	private static Request<?> throughFilter(Client client, Map<String, List<String>> headers) {
		List<Request<?>> seen = new ArrayList<>();
		ReactiveLoadBalancer<ServiceInstance> balancer = request -> {
			seen.add(request);
			return Mono.just(new EmptyResponse());
		};
		ClientRequest request = ClientRequest.create(HttpMethod.GET, URI.create("http://svc/"))
				.headers(all -> new LinkedHashMap<>(headers).forEach(all::addAll)).build();
		new ReactorLoadBalancerExchangeFilterFunction(new OneBalancer(client.properties, balancer), List.of())
				.filter(request, sent -> Mono.empty()).block();
		return seen.get(0);
	}

}
