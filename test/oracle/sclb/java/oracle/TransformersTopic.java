package oracle;

import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import reactor.core.publisher.Mono;

import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.DefaultResponse;
import org.springframework.cloud.client.loadbalancer.LoadBalancerProperties;
import org.springframework.cloud.client.loadbalancer.LoadBalancerRequestFactory;
import org.springframework.cloud.client.loadbalancer.reactive.ReactorLoadBalancerExchangeFilterFunction;
import org.springframework.cloud.loadbalancer.blocking.XForwardedHeadersTransformer;
import org.springframework.cloud.loadbalancer.blocking.client.BlockingLoadBalancerClient;
import org.springframework.cloud.loadbalancer.core.LoadBalancerServiceInstanceCookieTransformer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.web.reactive.function.client.ClientRequest;

/**
 * What the blocking transformers add to a request that LoadBalancerRequestFactory sends to its instance, and what the
 * reactive filter adds to one.
 */
final class TransformersTopic implements Topic {

	@Override
	public String name() {
		return "transformers";
	}

	@Override
	public String about() {
		return "A request to original with these headers (or, reactive, these cookies) is sent to the instance of service "
				+ "svc (secure absent: false), properties x-forwarded.enabled, sticky-session.add-service-instance-cookie (addCookie) and "
				+ "sticky-session.instance-id-cookie-name (cookieName, absent: the default), booleans absent: false, as often as there are "
				+ "attempts, each with the same request object: sent are the URL and headers (cookies) of each; error is "
				+ "what is thrown.";
	}

	private record Case(String original, Map<String, Object> instance, boolean xForwarded, boolean addCookie,
			String cookieName) {

		ServiceInstance target() {
			return new DefaultServiceInstance((String) instance.get("instanceId"), Lab.SERVICE, "target",
					(int) instance.get("port"), instance.containsKey("secure"));
		}

		LoadBalancerProperties properties() {
			LoadBalancerProperties properties = new LoadBalancerProperties();
			properties.getXForwarded().setEnabled(xForwarded);
			properties.getStickySession().setAddServiceInstanceCookie(addCookie);
			if (cookieName != null) {
				properties.getStickySession().setInstanceIdCookieName(cookieName);
			}
			return properties;
		}

		Map<String, Object> vector(String client, String given, Object values) {
			return Json.map("client", client, "xForwarded", xForwarded ? true : null, "addCookie", addCookie ? true : null, "cookieName", cookieName,
					"instance", instance, "original", original, given, values);
		}

	}

	@Override
	public void write(Vectors to) {
		for (String original : List.of("http://svc/a", "https://svc/a?q=1", "http://svc:99/a", "http://u@svc/a")) {
			for (boolean secure : new boolean[] { false, true }) {
				for (int port : new int[] { 8080, -1 }) {
					Case one = new Case(original, instance("i1", port, secure), true, false, null);
					blocking(to, "x-forwarded", one, Map.of(), 1);
					blocking(to, "x-forwarded", one, Map.of("X-Forwarded-Host", List.of("first")), 2);
				}
			}
		}
		blocking(to, "off", new Case("http://svc/a", instance("i1", 8080, false), false, false, null),
				Map.of("Cookie", List.of("a=1")), 2);
		List<Map<String, List<String>>> given = List.of(Map.of(), Map.of("Cookie", List.of("a=1")),
				Map.of("Cookie", List.of("a=1; b=2", "c=3")), Map.of("cookie", List.of("sc-lb-instance-id=i9")));
		for (Map<String, List<String>> headers : given) {
			for (String cookieName : new String[] { null, "mine", "", " " }) {
				for (String id : new String[] { "i1", "host:8080", "a b;c", null }) {
					blocking(to, "cookie", new Case("http://svc/a", instance(id, 8080, false), false, true, cookieName), headers,
							headers.isEmpty() ? 2 : 1);
				}
			}
		}
		blocking(to, "both", new Case("http://svc/a", instance("i1", 8080, true), true, true, null), Map.of(), 2);
		for (Map<String, List<String>> cookies : List.of(Map.<String, List<String>>of(), Map.of("a", List.of("1")),
				Map.of("sc-lb-instance-id", List.of("i9")), Map.of("mine", List.of("x", "y")))) {
			for (String cookieName : new String[] { null, "mine", "" }) {
				for (boolean add : new boolean[] { true, false }) {
					reactive(to, new Case("http://svc/a", instance("i1", 8080, false), true, add, cookieName), cookies);
				}
			}
		}
	}

	private static Map<String, Object> instance(String id, int port, boolean secure) {
		return Json.map("instanceId", id, "host", "target", "port", port, "secure", secure ? true : null);
	}

	private static void blocking(Vectors to, String group, Case one, Map<String, List<String>> headers, int attempts) {
		OneBalancer factory = new OneBalancer(one.properties(), null);
		LoadBalancerRequestFactory requests = new LoadBalancerRequestFactory(new BlockingLoadBalancerClient(factory),
				List.of(new XForwardedHeadersTransformer(factory), new LoadBalancerServiceInstanceCookieTransformer(factory)));
		Map<String, Object> vector = one.vector("blocking", "headers", headers);
		vector.put("attempts", attempts);
		Lab.put(vector, "sent", () -> {
			HttpRequest request = Lab.plainRequest(URI.create(one.original()), HttpMethod.GET);
			headers.forEach((name, values) -> values.forEach(value -> request.getHeaders().add(name, value)));
			List<Object> sent = new ArrayList<>();
			for (int k = 0; k < attempts; k++) {
				requests.createRequest(request, new byte[0], (made, body) -> {
					sent.add(Json.map("url", made.getURI().toString(), "headers", copy(made.getHeaders())));
					return null;
				}).apply(one.target());
			}
			return sent;
		});
		to.add(group, vector);
	}

	private static void reactive(Vectors to, Case one, Map<String, List<String>> cookies) {
		Map<String, Object> vector = one.vector("reactive", "cookies", cookies);
		vector.put("attempts", 1);
		Lab.put(vector, "sent", () -> {
			ClientRequest request = ClientRequest.create(HttpMethod.GET, URI.create(one.original()))
					.cookies(all -> cookies.forEach(all::addAll)).build();
			List<Object> sent = new ArrayList<>();
			new ReactorLoadBalancerExchangeFilterFunction(
					new OneBalancer(one.properties(), asked -> Mono.just(new DefaultResponse(one.target()))), List.of())
							.filter(request, made -> {
								sent.add(Json.map("url", made.url().toString(), "cookies", new LinkedHashMap<>(made.cookies())));
								return Mono.empty();
							}).block();
			return sent;
		});
		to.add("reactive", vector);
	}

	private static Map<String, List<String>> copy(HttpHeaders headers) {
		Map<String, List<String>> copy = new LinkedHashMap<>();
		headers.forEach((name, values) -> copy.put(name, List.copyOf(values)));
		return copy;
	}

}
