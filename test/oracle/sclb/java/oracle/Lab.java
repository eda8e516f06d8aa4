package oracle;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;

import reactor.core.Exceptions;
import reactor.core.publisher.Flux;

import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.DefaultRequest;
import org.springframework.cloud.client.loadbalancer.Request;
import org.springframework.cloud.client.loadbalancer.RequestData;
import org.springframework.cloud.client.loadbalancer.RequestDataContext;
import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;
import org.springframework.cloud.loadbalancer.support.SimpleObjectProvider;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;

/** What the topics share: instances, requests, and the real round robin over the suppliers under test. */
final class Lab {

	static final String SERVICE = "svc";

	private static final JdkClientHttpRequestFactory PLAIN = new JdkClientHttpRequestFactory();

	private Lab() {
	}

	/** The host is the id and the port 8080: one rule that replays follow as well. */
	static ServiceInstance instance(String id, Map<String, String> metadata) {
		return new DefaultServiceInstance(id, SERVICE, id, 8080, false, metadata);
	}

	/** i0, i1, … with the same key of metadata; null: the instance lacks it. */
	static List<ServiceInstance> instances(String key, List<String> values) {
		List<ServiceInstance> instances = new ArrayList<>();
		for (int i = 0; i < values.size(); i++) {
			Map<String, String> metadata = new LinkedHashMap<>();
			if (values.get(i) != null) {
				metadata.put(key, values.get(i));
			}
			instances.add(instance("i" + i, metadata));
		}
		return instances;
	}

	static List<ServiceInstance> instances(int count) {
		return instances("", Arrays.asList(new String[count]));
	}

	/** A list that tests change between picks. */
	static final class Base implements ServiceInstanceListSupplier {

		List<ServiceInstance> list;

		Base(List<ServiceInstance> list) {
			this.list = list;
		}

		@Override
		public String getServiceId() {
			return SERVICE;
		}

		@Override
		public Flux<List<ServiceInstance>> get() {
			return Flux.defer(() -> Flux.just(list));
		}

	}

	static RoundRobinLoadBalancer roundRobin(ServiceInstanceListSupplier supplier, int start) {
		return new RoundRobinLoadBalancer(new SimpleObjectProvider<>(supplier), SERVICE, start);
	}

	/** Who is picked, as its place in the list; null: nobody. */
	static Integer pick(RoundRobinLoadBalancer balancer, Request<?> request, List<ServiceInstance> places) {
		ServiceInstance picked = balancer.choose(request).block().getServer();
		return picked == null ? null : places.indexOf(picked);
	}

	/** Whom the supplier leaves to the policy, as places in the list. */
	static List<Integer> candidates(ServiceInstanceListSupplier supplier, Request<?> request,
			List<ServiceInstance> places) {
		return places(supplier.get(request).next().block(), places);
	}

	static List<Integer> places(List<ServiceInstance> some, List<ServiceInstance> all) {
		return some.stream().map(all::indexOf).toList();
	}

	static Request<RequestDataContext> request(RequestData data) {
		return new DefaultRequest<>(new RequestDataContext(data));
	}

	static RequestData data(Map<String, String> headers, MultiValueMap<String, String> cookies) {
		HttpHeaders all = new HttpHeaders();
		headers.forEach(all::add);
		return new RequestData(HttpMethod.GET, URI.create("http://svc/"), all, cookies, Map.of());
	}

	static RequestData data() {
		return data(Map.of(), new LinkedMultiValueMap<>());
	}

	/** A request of RestTemplate's kind that nobody sends. */
	static HttpRequest plainRequest(URI uri, HttpMethod method) throws IOException {
		return PLAIN.createRequest(uri, method);
	}

	/** Runs, and puts the result under the key or, if it failed, the name of what was thrown under "error". */
	static void put(Map<String, Object> vector, String key, Callable<?> run) {
		try {
			vector.put(key, run.call());
		}
		catch (Throwable thrown) {
			vector.put("error", Exceptions.unwrap(thrown).getClass().getSimpleName());
		}
	}

	/** Throws what is checked where nothing may be. */
	@SuppressWarnings("unchecked")
	static <T extends Throwable> T sneaky(Throwable thrown) throws T {
		throw (T) thrown;
	}

	@SafeVarargs
	static <T> T oneOf(Random random, T... values) {
		return values[random.nextInt(values.length)];
	}

	/** As many values, each one of the given. */
	static List<String> some(Random random, int count, String... values) {
		List<String> picked = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			picked.add(oneOf(random, values));
		}
		return picked;
	}

}
