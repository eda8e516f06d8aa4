package oracle;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeoutException;

import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.LoadBalancerProperties;
import org.springframework.cloud.client.loadbalancer.LoadBalancerRequestFactory;
import org.springframework.cloud.client.loadbalancer.RetryLoadBalancerInterceptor;
import org.springframework.cloud.client.loadbalancer.reactive.RetryableExchangeFilterFunctionLoadBalancerRetryPolicy;
import org.springframework.cloud.client.loadbalancer.reactive.RetryableLoadBalancerExchangeFilterFunction;
import org.springframework.cloud.loadbalancer.blocking.client.BlockingLoadBalancerClient;
import org.springframework.cloud.loadbalancer.blocking.retry.BlockingLoadBalancedRetryFactory;
import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;

/** Whole calls through RetryLoadBalancerInterceptor and RetryableLoadBalancerExchangeFilterFunction, by a script. */
final class RetryTopic implements Topic {

	@Override
	public String name() {
		return "retry";
	}

	@Override
	public long seed() {
		return 20_240_414;
	}

	@Override
	public String about() {
		return "A call with retries, client blocking (RestTemplate's interceptor) or reactive (WebClient's filter), over this "
				+ "many instances, suppliers (absent: retry-aware), round robin begun at -1, properties retry.* as given (absent: the default): the "
				+ "k-th exchange ends as outcomes[k] (the last one again and again), a status or an exception, its cause in "
				+ "<>; exchanges are the places of the instances asked, status or error what the caller gets.";
	}

	private static final List<String> AWARE = List.of("retry-aware");

	private record Case(String client, int instances, List<String> suppliers, String method, Map<String, Object> retry,
			List<Object> outcomes) {
	}

	@Override
	public void write(Vectors to) {
		Map<String, Object> codes = Json.map("retryableStatusCodes", List.of(500, 503));
		for (String client : List.of("blocking", "reactive")) {
			for (int same : new int[] { 0, 1, 2 }) {
				for (int next : new int[] { 0, 1, 2 }) {
					Map<String, Object> max = with(codes, "maxSame", same, "maxNext", next);
					add(to, client, 3, "GET", max, "IOException");
					add(to, client, 3, "GET", max, 500);
					add(to, client, 3, "GET", max, 500, "IOException", 200);
					add(to, client, 3, "POST", max, "IOException");
					add(to, client, 3, "POST", max, 503, 200);
					add(to, client, 2, "POST", with(max, "retryOnAllOperations", true), 503, "TimeoutException", 200);
				}
			}
			for (String exception : List.of("IOException", "ConnectException", "TimeoutException", "IllegalStateException",
					"RuntimeException<IOException>", "RuntimeException<RuntimeException<IOException>>",
					"RuntimeException<RuntimeException<RuntimeException<IOException>>>")) {
				add(to, client, 3, "GET", Map.of(), exception, 200);
				add(to, client, 3, "GET", Map.of(), exception);
				add(to, client, 3, "GET", Map.of("retryOnAllExceptions", true), exception, 200);
				add(to, client, 3, "GET", Map.of("retryableExceptions", List.of("java.net.ConnectException")), exception, 200);
				add(to, client, 3, "GET", Map.of("enabled", false), exception, 200);
				add(to, client, 3, "POST", Map.of(), exception, 200);
			}
			add(to, client, 3, "GET", with(codes, "retryableExceptions", List.of("java.net.ConnectException")), 500, 200);
			add(to, client, 3, "GET", with(codes, "enabled", false), 500, 200);
			for (int status : new int[] { 200, 204, 301, 404, 429, 500, 501, 503 }) {
				add(to, client, 2, "GET", codes, status, 200);
			}
			add(to, client, 0, "GET", codes, 200);
			add(to, client, 0, "GET", with(codes, "maxNext", 2, "maxSame", 1), 200);
			add(to, client, 0, "GET", Map.of(), 200);
			add(to, client, 1, "GET", with(codes, "maxNext", 3), 500, "IOException", 503, 200);
		}
		Random random = new Random(seed());
		for (int i = 0; i < 100; i++) {
			Map<String, Object> retry = with(random.nextInt(4) > 0 ? codes : Map.of(), "maxSame", random.nextInt(3), "maxNext",
					random.nextInt(4));
			if (random.nextInt(4) == 0) {
				retry.put("retryOnAllOperations", true);
			}
			Object[] outcomes = new Object[1 + random.nextInt(7)];
			for (int k = 0; k < outcomes.length; k++) {
				outcomes[k] = Lab.oneOf(random, 200, 500, 503, 404, 500, "IOException", "IOException",
						"RuntimeException<IOException>", "IllegalStateException");
			}
			List<String> suppliers = Lab.oneOf(random, AWARE, AWARE, List.of(),
					List.of("same-instance-preference", "retry-aware"));
			run(to, "random", new Case(i % 2 == 0 ? "blocking" : "reactive", 1 + random.nextInt(4), suppliers,
					random.nextInt(4) > 0 ? "GET" : "POST", retry, Arrays.asList(outcomes)));
		}
	}

	private static Map<String, Object> with(Map<String, Object> some, Object... more) {
		Map<String, Object> all = Json.map(more);
		all.putAll(some);
		return all;
	}

	private static void add(Vectors to, String client, int instances, String method, Map<String, Object> retry,
			Object... outcomes) {
		run(to, client, new Case(client, instances, AWARE, method, retry, Arrays.asList(outcomes)));
	}

	private static void run(Vectors to, String group, Case one) {
		List<ServiceInstance> instances = Lab.instances(one.instances());
		RoundRobinLoadBalancer balancer = Lab.roundRobin(new Client().chain(new Lab.Base(instances), one.suppliers()), -1);
		OneBalancer factory = new OneBalancer(properties(one.retry()), balancer);
		List<Integer> exchanges = new ArrayList<>();
		Map<String, Object> vector = Json.map("client", one.client(), "instances", one.instances(), "suppliers",
				one.suppliers().equals(AWARE) ? null : one.suppliers(), "method", one.method(), "retry",
				one.retry().isEmpty() ? null : one.retry(), "outcomes", one.outcomes(), "exchanges",
				exchanges);
		try {
			vector.put("status", one.client().equals("blocking") ? blocking(one, factory, exchanges)
					: reactive(one, factory, exchanges));
		}
		catch (Throwable thrown) {
			vector.put("error", named(Exceptions.unwrap(thrown)));
		}
		to.add(group, vector);
	}

	private static int blocking(Case one, OneBalancer factory, List<Integer> exchanges) throws Exception {
		BlockingLoadBalancerClient client = new BlockingLoadBalancerClient(factory);
		try (ClientHttpResponse response = new RetryLoadBalancerInterceptor(client, new LoadBalancerRequestFactory(client),
				new BlockingLoadBalancedRetryFactory(factory), factory).intercept(
						Lab.plainRequest(URI.create("http://svc/"),
								HttpMethod.valueOf(one.method())),
						new byte[0], (request, body) -> {
							Object outcome = outcome(one, exchanges, request.getURI());
							if (outcome instanceof Integer status) {
								return new Answer(status);
							}
							throw Lab.<RuntimeException>sneaky(exception((String) outcome));
						})) {
			return response.getStatusCode().value();
		}
	}

	private static int reactive(Case one, OneBalancer factory, List<Integer> exchanges) {
		return new RetryableLoadBalancerExchangeFilterFunction(
				service -> new RetryableExchangeFilterFunctionLoadBalancerRetryPolicy(factory.getProperties(service)), factory,
				List.of()).filter(
						ClientRequest.create(HttpMethod.valueOf(one.method()), URI.create("http://svc/")).build(), request -> {
							Object outcome = outcome(one, exchanges, request.url());
							return outcome instanceof Integer status
									? Mono.just(ClientResponse.create(HttpStatusCode.valueOf(status)).build())
									: Mono.error(exception((String) outcome));
						}).block().statusCode().value();
	}

	private static Object outcome(Case one, List<Integer> exchanges, URI uri) {
		Object outcome = one.outcomes().get(Math.min(exchanges.size(), one.outcomes().size() - 1));
		exchanges.add(Integer.valueOf(uri.getHost().substring(1)));
		return outcome;
	}

	/** "A<B>" is an A whose cause is a B. */
	private static Exception exception(String name) {
		int open = name.indexOf('<');
		Exception cause = open < 0 ? null : exception(name.substring(open + 1, name.length() - 1));
		return switch (open < 0 ? name : name.substring(0, open)) {
			case "IOException" -> new IOException(cause);
			case "ConnectException" -> new ConnectException();
			case "TimeoutException" -> new TimeoutException();
			case "IllegalStateException" -> new IllegalStateException(cause);
			default -> new RuntimeException(cause);
		};
	}

	private static String named(Throwable thrown) {
		String name = thrown.getClass().getSimpleName();
		return thrown.getCause() == null ? name : name + "<" + named(thrown.getCause()) + ">";
	}

	@SuppressWarnings("unchecked")
	private static LoadBalancerProperties properties(Map<String, Object> given) {
		LoadBalancerProperties properties = new LoadBalancerProperties();
		LoadBalancerProperties.Retry retry = properties.getRetry();
		given.forEach((key, value) -> {
			switch (key) {
				case "enabled" -> retry.setEnabled((boolean) value);
				case "maxSame" -> retry.setMaxRetriesOnSameServiceInstance((int) value);
				case "maxNext" -> retry.setMaxRetriesOnNextServiceInstance((int) value);
				case "retryOnAllOperations" -> retry.setRetryOnAllOperations((boolean) value);
				case "retryOnAllExceptions" -> retry.setRetryOnAllExceptions((boolean) value);
				case "retryableStatusCodes" -> retry.setRetryableStatusCodes(Set.copyOf((List<Integer>) value));
				case "retryableExceptions" -> retry.setRetryableExceptions(new LinkedHashSet<>(Set.of(ConnectException.class)));
				default -> throw new IllegalArgumentException(key);
			}
		});
		return properties;
	}

	private record Answer(int status) implements ClientHttpResponse {

		@Override
		public HttpStatusCode getStatusCode() {
			return HttpStatusCode.valueOf(status);
		}

		/** Of 4.1's line alone. */
		@SuppressWarnings("unused")
		public int getRawStatusCode() {
			return status;
		}

		@Override
		public String getStatusText() {
			return HttpStatus.valueOf(status).name();
		}

		@Override
		public HttpHeaders getHeaders() {
			return new HttpHeaders();
		}

		@Override
		public InputStream getBody() {
			return new ByteArrayInputStream(new byte[0]);
		}

		@Override
		public void close() {
		}

	}

}
