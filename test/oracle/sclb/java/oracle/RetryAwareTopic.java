package oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.DefaultRequest;
import org.springframework.cloud.client.loadbalancer.Request;
import org.springframework.cloud.client.loadbalancer.RequestData;
import org.springframework.cloud.client.loadbalancer.RetryableRequestContext;
import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;
import org.springframework.util.LinkedMultiValueMap;

/** RetryAwareServiceInstanceListSupplier, alone and over suppliers that leave one instance. */
final class RetryAwareTopic implements Topic {

	@Override
	public String name() {
		return "retry-aware";
	}

	@Override
	public long seed() {
		return 20_240_408;
	}

	@Override
	public String about() {
		return "Instances of these ids (host = id, port 8080; rev: the metadata key rev of each), suppliers innermost "
				+ "first, round robin begun at start; each step is a pick whose previous instance (absent: none) has "
				+ "this id and rev and whose cookie sc-lb-instance-id (absent: none) is this; candidates, where given, "
				+ "are whom the policy gets, pick whom it picks, as places.";
	}

	@Override
	public void write(Vectors to) {
		List<String> plain = List.of("retry-aware");
		List<String> abc = List.of("a", "b", "c");
		for (String previous : new String[] { null, "a", "b", "c", "x", "a@1" }) {
			add(to, "plain", plain, abc, null, -1, true, step(previous, null));
			add(to, "plain", plain, abc, List.of("1", "2", "1"), -1, true, step(previous, null));
		}
		add(to, "plain", plain, List.of("a"), null, -1, true, step("a", null), step("b", null), step(null, null));
		add(to, "plain", plain, List.of(), null, -1, true, step("a", null), step(null, null));
		add(to, "plain", plain, List.of("a", "b"), null, 7, true, step("a", null), step("b", null), step("a", null),
				step(null, null), step(null, null));
		List<String> same = List.of("same-instance-preference", "retry-aware");
		add(to, "singleton", same, abc, null, -1, false, step(null, null), step("a", null), step("a", null), step("b", null),
				step(null, null));
		add(to, "singleton", List.of("retry-aware", "same-instance-preference"), abc, null, -1, false, step(null, null),
				step("a", null), step("b", null), step("a", null), step(null, null));
		add(to, "singleton", List.of("request-based-sticky-session", "retry-aware"), abc, null, -1, true,
				step("b", "b"), step("a", "b"), step("b", null), step(null, "b"));
		add(to, "singleton", List.of("retry-aware", "request-based-sticky-session"), abc, null, -1, true,
				step("b", "b"), step("a", "b"), step("b", null), step(null, "b"));
		Random random = new Random(seed());
		for (int i = 0; i < 50; i++) {
			List<String> ids = new ArrayList<>();
			for (String id : List.of("a", "b", "c", "d")) {
				if (random.nextInt(3) > 0) {
					ids.add(id);
				}
			}
			Map<?, ?>[] steps = new Map<?, ?>[8];
			for (int k = 0; k < steps.length; k++) {
				steps[k] = step(Lab.oneOf(random, null, "a", "b", "c", "d", "a@1"), Lab.oneOf(random, null, "a", "b"));
			}
			List<String> suppliers = Lab.oneOf(random, plain, same, List.of("request-based-sticky-session", "retry-aware"),
					List.of("retry-aware", "same-instance-preference"));
			add(to, "random", suppliers, ids, random.nextInt(3) > 0 ? null : Lab.some(random, ids.size(), "1", "2"),
					random.nextInt(50), !suppliers.contains("same-instance-preference"), steps);
		}
	}

	/** The previous instance as id or id@rev. */
	private static Map<String, Object> step(String previous, String cookie) {
		return Json.map("previous", previous == null ? null : previous.substring(0, 1), "rev",
				previous == null || previous.length() == 1 ? null : previous.substring(2), "cookie", cookie);
	}

	/** Candidates cannot be asked of a supplier that remembers: asking makes it forget. */
	private static void add(Vectors to, String group, List<String> suppliers, List<String> ids, List<String> revisions,
			int start, boolean candidates, Map<?, ?>... steps) {
		List<ServiceInstance> instances = new ArrayList<>();
		for (int i = 0; i < ids.size(); i++) {
			instances.add(instance(ids.get(i), revisions == null ? null : revisions.get(i)));
		}
		ServiceInstanceListSupplier supplier = new Client().chain(new Lab.Base(instances), suppliers);
		RoundRobinLoadBalancer balancer = Lab.roundRobin(supplier, start);
		List<Map<String, Object>> walk = new ArrayList<>();
		for (Map<?, ?> step : Arrays.asList(steps)) {
			LinkedMultiValueMap<String, String> cookies = new LinkedMultiValueMap<>();
			if (step.get("cookie") != null) {
				cookies.add("sc-lb-instance-id", (String) step.get("cookie"));
			}
			RequestData data = Lab.data(Map.of(), cookies);
			ServiceInstance previous = step.get("previous") == null ? null
					: instance((String) step.get("previous"), (String) step.get("rev"));
			Request<?> request = new DefaultRequest<>(new RetryableRequestContext(previous, data, "default"));
			Map<String, Object> done = Json.map("previous", step.get("previous"), "rev", step.get("rev"), "cookie",
					step.get("cookie"), "candidates", candidates ? Lab.candidates(supplier, request, instances) : null);
			done.put("pick", Lab.pick(balancer, request, instances));
			walk.add(done);
		}
		to.add(group,
				Json.map("suppliers", suppliers, "ids", ids, "rev", revisions, "start", start, "steps", walk));
	}

	private static ServiceInstance instance(String id, String revision) {
		return Lab.instance(id, revision == null ? Map.of() : Map.of("rev", revision));
	}

}
