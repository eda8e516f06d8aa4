package oracle;

import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.DefaultRequest;
import org.springframework.cloud.client.loadbalancer.LoadBalancerClientsProperties;
import org.springframework.cloud.client.loadbalancer.LoadBalancerProperties.ApiVersion;
import org.springframework.cloud.client.loadbalancer.Request;
import org.springframework.cloud.client.loadbalancer.RequestData;
import org.springframework.cloud.client.loadbalancer.RequestDataContext;
import org.springframework.cloud.loadbalancer.core.BlockingApiVersionServiceInstanceListSupplier;
import org.springframework.cloud.loadbalancer.core.ReactiveApiVersionServiceInstanceListSupplier;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;
import org.springframework.cloud.loadbalancer.support.LoadBalancerClientFactory;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.util.LinkedMultiValueMap;

/** The two API version suppliers, each asked once. */
final class ApiVersionTopic implements Topic {

	@Override
	public String name() {
		return "api-version";
	}

	@Override
	public long seed() {
		return 20_240_415;
	}

	@Override
	public String about() {
		return "Instances with these values of the metadata key API_VERSION (null: without the key), the api-version "
				+ "supplier of client blocking or reactive (absent: both), properties api-version.* as given (absent: the default), callGet "
				+ "(call-get-with-request-on-delegates, absent: true), a GET of url with these headers (request absent: a "
				+ "request without any context; null: one without HTTP data): candidates are whom the policy gets, as places; "
				+ "error is what the pick throws.";
	}

	/** One child context, with the parser that every client has by default, for all of the vectors. */
	private static final LoadBalancerClientFactory CHILD = child();

	private static final List<String> VERSIONS = Arrays.asList("1", "2", null, "1.0.0", "2.1", "v3");

	@Override
	public void write(Vectors to) {
		Map<String, Object> header = Json.map("header", "X-V");
		for (String version : new String[] { "1", "1.0", "1.0.0", "v1", "2", "2.0", "2.1", "2.1.0", "3", "V3", "version-2", "9",
				"", " ", " 1", "1 ", "1.", ".1", "1.0.0.0", "1.x", "x", "1,2", "01", "1.00", "-1", "1-SNAPSHOT", "99999999999",
				"\u0661" }) {
			add(to, "header", header, VERSIONS, request("http://svc/", "X-V", version));
		}
		add(to, "header", header, VERSIONS, request("http://svc/"));
		add(to, "header", header, VERSIONS, request("http://svc/", "x-v", "1"));
		for (Map<String, Object> more : List.of(Json.map("defaultVersion", "2"), Json.map("fallback", true),
				Json.map("defaultVersion", "7", "fallback", true), Json.map("required", true), Json.map("defaultVersion", "7"),
				Json.map("required", true, "defaultVersion", "2"), Json.map("required", true, "fallback", true),
				Json.map("defaultVersion", "x"))) {
			Map<String, Object> both = with(header, more);
			add(to, "default", both, VERSIONS, request("http://svc/"));
			add(to, "default", both, VERSIONS, request("http://svc/", "X-V", "1"));
			add(to, "default", both, VERSIONS, request("http://svc/", "X-V", "8"));
			add(to, "default", both, VERSIONS, request("http://svc/", "X-V", "x"));
			add(to, "default", both, VERSIONS, null);
			add(to, "default", both, VERSIONS, Json.map());
			add(to, "call-get", with(both, Map.of("callGet", false)), VERSIONS, request("http://svc/", "X-V", "1"));
		}
		add(to, "no-resolver", Map.of(), VERSIONS, request("http://svc/", "X-V", "1"));
		add(to, "no-resolver", Map.of("fallback", true), VERSIONS, request("http://svc/"));
		add(to, "no-resolver", Map.of("defaultVersion", "1"), VERSIONS, null);
		for (List<String> versions : List.of(List.of("1", "x"), List.of("x", "1"), List.of("1,2"), List.of(""), List.<String>of(),
				Arrays.asList((String) null), List.of("1", "v1", "1.0"))) {
			add(to, "instances", header, versions, request("http://svc/", "X-V", "1"));
			add(to, "instances", header, versions, request("http://svc/"));
			add(to, "instances", with(header, Map.of("fallback", true)), versions, request("http://svc/", "X-V", "5"));
		}
		Map<String, Object> query = Json.map("queryParameter", "v");
		for (String url : List.of("http://svc/?v=1", "http://svc/?v=2&v=1", "http://svc/?V=1", "http://svc/?v=", "http://svc/?v",
				"http://svc/?w=1", "http://svc/?v=%31", "http://svc/?v=1+", "http://svc/?a=b&v=v2", "http://svc/?v=x", "http://svc/")) {
			add(to, "query", query, VERSIONS, request(url));
		}
		for (int segment : new int[] { 0, 1 }) {
			for (String url : List.of("http://svc/1/a", "http://svc/api/v2/x", "http://svc/", "http://svc", "http://svc/2",
					"http://svc/api/2;x=1/y", "http://svc/v%31/2", "http://svc//2")) {
				add(to, "path", Json.map("pathSegment", segment), VERSIONS, request(url));
			}
		}
		Map<String, Object> media = Json.map("mediaTypeParameters", Map.of("application/json", "version"));
		for (String accept : new String[] { "application/json;version=1", "application/json; version=2.1",
				"application/json;version=\"1\"", "application/json", "text/plain;version=1", "application/*;version=1", "*/*;version=1",
				"text/plain, application/json;version=2", "application/json;VERSION=1", "application/vnd.a+json;version=1",
				"application/json;version=x", "nonsense" }) {
			add(to, "media-type", media, VERSIONS, request("http://svc/", "Accept", accept));
			add(to, "media-type", media, VERSIONS, request("http://svc/", "Content-Type", accept));
		}
		Map<String, Object> all = with(with(header, query), with(media, Map.of("pathSegment", 0)));
		add(to, "order", all, VERSIONS, request("http://svc/2/?v=2", "X-V", "1", "Accept", "application/json;version=2"));
		add(to, "order", all, VERSIONS, request("http://svc/2/?v=1", "Accept", "application/json;version=2"));
		add(to, "order", all, VERSIONS, request("http://svc/1/", "Accept", "application/json;version=2"));
		add(to, "order", all, VERSIONS, request("http://svc/", "Accept", "application/json;version=2"));
		add(to, "order", with(header, media), VERSIONS, request("http://svc/", "Accept", "application/json;version=2"));
		add(to, "order", with(header, query), VERSIONS, request("http://svc/?v=2", "X-V", ""));
		Random random = new Random(seed());
		for (int i = 0; i < 40; i++) {
			String[] some = { "1", "1.0", "2", "2.1", "v3", null, "3.0.0" };
			Map<String, Object> given = with(header, query);
			if (random.nextInt(3) == 0) {
				given.put("defaultVersion", Lab.oneOf(random, "1", "2", "3"));
			}
			if (random.nextInt(3) == 0) {
				given.put("fallback", true);
			}
			add(to, "random", given, Lab.some(random, random.nextInt(7), some),
					random.nextInt(3) > 0 ? request("http://svc/", "X-V", Lab.oneOf(random, "1", "2", "3", "4", "2.1"))
							: request("http://svc/" + Lab.oneOf(random, "", "?v=1", "?v=3")));
		}
	}

	private static LoadBalancerClientFactory child() {
		LoadBalancerClientFactory factory = new LoadBalancerClientFactory(new LoadBalancerClientsProperties());
		GenericApplicationContext parent = new GenericApplicationContext();
		parent.registerBean(LoadBalancerClientFactory.class, () -> factory);
		parent.refresh();
		factory.setApplicationContext(parent);
		return factory;
	}

	private static Map<String, Object> with(Map<String, Object> some, Map<String, Object> more) {
		Map<String, Object> all = Json.map();
		all.putAll(some);
		all.putAll(more);
		return all;
	}

	private static Map<String, Object> request(String url, String... headers) {
		Map<String, Object> all = Json.map((Object[]) headers);
		return Json.map("url", url, "headers", all.isEmpty() ? null : all);
	}

	/** Null: no context at all; empty: a context without HTTP data. */
	private static void add(Vectors to, String group, Map<String, Object> properties, List<String> versions,
			Map<String, Object> request) {
		Map<String, Object> reactive = answer("reactive", properties, versions, request);
		Map<String, Object> blocking = answer("blocking", properties, versions, request);
		if (reactive.equals(blocking)) {
			to.add(group, vector(null, properties, versions, request, reactive));
		}
		else {
			to.add(group + "-reactive", vector("reactive", properties, versions, request, reactive));
			to.add(group + "-blocking", vector("blocking", properties, versions, request, blocking));
		}
	}

	private static Map<String, Object> vector(String client, Map<String, Object> properties, List<String> versions,
			Map<String, Object> request, Map<String, Object> answer) {
		Map<String, Object> vector = Json.map("client", client, "properties", properties, "versions", versions);
		if (request != null) {
			vector.put("request", request.isEmpty() ? null : request);
		}
		vector.putAll(answer);
		return vector;
	}

	private static Map<String, Object> answer(String client, Map<String, Object> properties, List<String> versions,
			Map<String, Object> request) {
		List<ServiceInstance> instances = Lab.instances("API_VERSION", versions);
		Map<String, Object> answer = Json.map();
		Lab.put(answer, "candidates",
				() -> Lab.candidates(supplier(client, properties, new Lab.Base(instances)), made(request), instances));
		return answer;
	}

	@SuppressWarnings("unchecked")
	private static ServiceInstanceListSupplier supplier(String client, Map<String, Object> properties, Lab.Base base) {
		Client made = new Client();
		ApiVersion of = made.properties.getApiVersion();
		properties.forEach((key, value) -> {
			switch (key) {
				case "header" -> of.setHeader((String) value);
				case "queryParameter" -> of.setQueryParameter((String) value);
				case "pathSegment" -> of.setPathSegment((Integer) value);
				case "mediaTypeParameters" -> ((Map<String, String>) value)
						.forEach((type, name) -> of.getMediaTypeParameters().put(MediaType.valueOf(type), name));
				case "defaultVersion" -> of.setDefaultVersion((String) value);
				case "required" -> of.setRequired((boolean) value);
				case "fallback" -> of.setFallbackToAvailableInstances((boolean) value);
				case "callGet" -> made.properties.setCallGetWithRequestOnDelegates((boolean) value);
				default -> throw new IllegalArgumentException(key);
			}
		});
		LoadBalancerClientFactory factory = new LoadBalancerClientFactory(made.properties) {
			@Override
			public <T> T getInstance(String name, Class<T> type) {
				return CHILD.getInstance(name, type);
			}

			@Override
			public <T> T getInstanceWithoutAncestors(String name, Class<T> type) {
				return CHILD.getInstanceWithoutAncestors(name, type);
			}
		};
		return client.equals("blocking") ? new BlockingApiVersionServiceInstanceListSupplier(base, factory)
				: new ReactiveApiVersionServiceInstanceListSupplier(base, factory);
	}

	private static Request<?> made(Map<String, Object> request) {
		if (request == null) {
			return new DefaultRequest<>(null);
		}
		if (request.isEmpty()) {
			return new DefaultRequest<>(new RequestDataContext((RequestData) null));
		}
		HttpHeaders headers = new HttpHeaders();
		if (request.get("headers") instanceof Map<?, ?> given) {
			given.forEach((name, value) -> headers.add((String) name, (String) value));
		}
		return Lab.request(new RequestData(HttpMethod.GET, URI.create((String) request.get("url")), headers,
				new LinkedMultiValueMap<>(), Map.of()));
	}

}
