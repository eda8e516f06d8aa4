package oracle;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;

/** SameInstancePreferenceServiceInstanceListSupplier: many picks over a list that changes between them. */
final class SameInstanceTopic implements Topic {

	@Override
	public String name() {
		return "same-instance";
	}

	@Override
	public long seed() {
		return 20_240_407;
	}

	@Override
	public String about() {
		return "Supplier same-instance-preference, round robin begun at start: before each step the list is replaced "
				+ "(list absent: as before), pick is the place of the picked one in it, null if nobody. In a list "
				+ "\"b\" is an instance of that id, host b, port 8080, no metadata; \"b@2\" the same with metadata "
				+ "{rev: \"2\"}; \"b:81\" the same with port 81.";
	}

	@Override
	public void write(Vectors to) {
		add(to, "documented", -1, "a b c", "", "", "");
		add(to, "list", -1, "a b c", "", "b c", "a b c", "", "c a b", "");
		add(to, "list", -1, "a b c", "", "", "a", "b", "a b c", "");
		add(to, "list", -1, "a b c", "-", "a b c", "", "");
		add(to, "list", 0, "a b", "b", "a", "a b", "");
		add(to, "list", -1, "a", "a b", "b a", "b", "a b");
		add(to, "metadata", -1, "a b c", "", "a@1 b c", "", "a@2 b c", "a@1 b c", "");
		add(to, "metadata", -1, "a@1 b@1", "a@1 b@2", "a@1 b@3", "a@2 b@3", "");
		add(to, "address", -1, "a b c", "a:81 b c", "", "a b c", "");
		add(to, "address", -1, "a b", "a:81 b", "a:81 b:81", "a b", "");
		add(to, "twins", -1, "a a b", "", "a b", "b a a", "");
		Random random = new Random(seed());
		for (int i = 0; i < 50; i++) {
			String[] steps = new String[14];
			for (int k = 0; k < steps.length; k++) {
				List<String> list = new ArrayList<>();
				for (String id : List.of("a", "b", "c", "d", "e")) {
					switch (random.nextInt(i % 2 == 0 ? 3 : 6)) {
						case 0 -> {
						}
						case 5 -> list.add(id + "@" + random.nextInt(3));
						default -> list.add(id);
					}
				}
				Collections.shuffle(list, random);
				steps[k] = k > 0 && random.nextInt(3) > 0 ? "" : list.isEmpty() ? "-" : String.join(" ", list);
			}
			add(to, "random", random.nextInt(100) - 1, steps);
		}
	}

	/** "" leaves the list, "-" empties it. */
	private static void add(Vectors to, String group, int start, String... steps) {
		Lab.Base base = new Lab.Base(List.of());
		RoundRobinLoadBalancer balancer = Lab
				.roundRobin(new Client().chain(base, List.of("same-instance-preference")), start);
		List<Map<String, Object>> walk = new ArrayList<>();
		for (String step : steps) {
			List<String> names = step.equals("-") ? List.of() : List.of(step.split(" "));
			if (!step.isEmpty()) {
				// Objects of their own: an equal one is to be remembered, not only the same.
				base.list = names.stream().map(SameInstanceTopic::instance).toList();
			}
			Map<String, Object> done = Json.map("list", step.isEmpty() ? null : names);
			done.put("pick", Lab.pick(balancer, Lab.request(Lab.data()), base.list));
			walk.add(done);
		}
		to.add(group, Json.map("start", start, "steps", walk));
	}

	private static ServiceInstance instance(String name) {
		String id = name.substring(0, 1);
		if (name.contains("@")) {
			return Lab.instance(id, Map.of("rev", name.substring(2)));
		}
		return name.contains(":")
				? new DefaultServiceInstance(id, Lab.SERVICE, id, Integer.parseInt(name.substring(2)), false)
				: Lab.instance(id, Map.of());
	}

}
