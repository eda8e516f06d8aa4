package oracle;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.DefaultRequest;
import org.springframework.cloud.client.loadbalancer.RetryableRequestContext;
import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;
import org.springframework.util.LinkedMultiValueMap;

/** Random chains of suppliers in random order under random requests, all made by the real builder. */
final class ChainTopic implements Topic {

	private static final int CHAINS = 180;

	private static final int PICKS = 20;

	@Override
	public String name() {
		return "chain";
	}

	@Override
	public long seed() {
		return 20_240_409;
	}

	@Override
	public String about() {
		return "Instances i0, i1, … (host = id, port 8080) with this metadata, suppliers innermost first, round robin "
				+ "begun at start, properties zone, subset, callGet (call-get-with-request-on-delegates, absent: true); caching never "
				+ "expires; each step is one pick: hint is the header X-SC-LB-Hint, cookie the cookie sc-lb-instance-id, "
				+ "previous the place of the previous instance, pick the place of the picked one, null if nobody.";
	}

	@Override
	public void write(Vectors to) {
		Random random = new Random(seed());
		for (int i = 0; i < CHAINS; i++) {
			String group = i % 4 == 0 ? "short" : i % 4 == 1 ? "free" : "wrapped";
			List<String> suppliers = suppliers(random, group);
			// Of its own, for what the load balancer answers must not change the vectors that follow.
			to.add(group, chain(new Random(random.nextLong()), suppliers));
		}
	}

	/** Short and free: in any order; wrapped: retry-aware, if there, is the outermost, where SCLB itself puts it. */
	private static List<String> suppliers(Random random, String group) {
		boolean wrapped = group.equals("wrapped");
		List<String> all = new ArrayList<>(List.of("zone-preference", "hint", "weighted", "subset",
				"request-based-sticky-session", "same-instance-preference"));
		if (!wrapped) {
			all.add("retry-aware");
		}
		if (random.nextInt(8) == 0) {
			all.add("caching");
		}
		Collections.shuffle(all, random);
		List<String> some = new ArrayList<>(all.subList(0, group.equals("short") ? 2 : 2 + random.nextInt(all.size() - 1)));
		if (wrapped && random.nextInt(3) > 0) {
			some.add("retry-aware");
		}
		return some;
	}

	private static Map<String, Object> chain(Random random, List<String> suppliers) {
		int count = random.nextInt(12) == 0 ? random.nextInt(2) : 2 + random.nextInt(7);
		List<Map<String, String>> metadata = new ArrayList<>();
		List<ServiceInstance> instances = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			Map<String, String> of = new LinkedHashMap<>();
			put(of, "zone", Lab.oneOf(random, "a", "A", "b", null));
			put(of, "hint", Lab.oneOf(random, "x", "y", "default", null, null));
			put(of, "weight", Lab.oneOf(random, "1", "2", "3", "4", "6", "0", "x", null));
			metadata.add(of);
			instances.add(Lab.instance("i" + i, of));
		}
		Client client = new Client();
		client.zone = Lab.oneOf(random, "a", "b", "c", null);
		client.properties.getSubset().setInstanceId("client-" + random.nextInt(1000));
		client.properties.getSubset().setSize(1 + random.nextInt(5));
		client.properties.setCallGetWithRequestOnDelegates(random.nextInt(3) > 0);
		int start = random.nextInt(6) == 0 ? random.nextInt() : random.nextInt(1000);
		RoundRobinLoadBalancer balancer = Lab.roundRobin(client.chain(new Lab.Base(instances), suppliers), start);
		List<Map<String, Object>> steps = new ArrayList<>();
		Integer last = null;
		for (int k = 0; k < PICKS; k++) {
			Map<String, Object> step = Json.map("hint", Lab.oneOf(random, null, null, "x", "y", "z"), "cookie",
					random.nextInt(4) > 0 ? null : "i" + random.nextInt(count + 1), "previous",
					last == null || random.nextInt(3) > 0 ? null
							: random.nextInt(4) > 0 ? last : (Integer) random.nextInt(count));
			last = pick(balancer, instances, step);
			step.put("pick", last);
			steps.add(step);
		}
		return Json.map("suppliers", suppliers, "zone", client.zone, "subset",
				suppliers.contains("subset")
						? Json.map("instanceId", client.properties.getSubset().getInstanceId(), "size",
								client.properties.getSubset().getSize())
						: null,
				"callGet", client.properties.isCallGetWithRequestOnDelegates() ? null : false, "metadata", metadata, "start", start,
				"steps", steps);
	}

	private static void put(Map<String, String> metadata, String key, String value) {
		if (value != null) {
			metadata.put(key, value);
		}
	}

	private static Integer pick(RoundRobinLoadBalancer balancer, List<ServiceInstance> instances,
			Map<String, Object> step) {
		LinkedMultiValueMap<String, String> cookies = new LinkedMultiValueMap<>();
		if (step.get("cookie") != null) {
			cookies.add("sc-lb-instance-id", (String) step.get("cookie"));
		}
		Map<String, String> headers = step.get("hint") == null ? Map.of()
				: Map.of("X-SC-LB-Hint", (String) step.get("hint"));
		ServiceInstance previous = step.get("previous") == null ? null : instances.get((int) step.get("previous"));
		return Lab.pick(balancer,
				new DefaultRequest<>(new RetryableRequestContext(previous, Lab.data(headers, cookies), "default")),
				instances);
	}

}
