package oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;
import org.springframework.cloud.loadbalancer.core.SubsetServiceInstanceListSupplier;

/** SubsetServiceInstanceListSupplier over i0 … i(count−1). */
final class SubsetTopic implements Topic {

	@Override
	public String name() {
		return "subset";
	}

	@Override
	public long seed() {
		return 20_240_403;
	}

	@Override
	public String about() {
		return "The subset, as places in a list of count instances in this order, for properties subset.instance-id "
				+ "and subset.size; environment are the other properties, resolved the id that came of them; "
				+ "error is what the pick throws.";
	}

	@Override
	public void write(Vectors to) {
		for (String id : new String[] { "foobar", "foobar1", "foobar2", "a", "polygenelubricants", "my-host:my-app:8080",
				"Zo\u00eb", "\ud83d\ude00", "\ud83d", "\u65e5\u672c\u8a9e", "00000000-0000-0000-0000-000000000001",
				" padded ", "0", "Aa", "BB" }) {
			for (int[] sizes : new int[][] { { 10, 3 }, { 6, 5 }, { 101, 5 }, { 7, 2 }, { 9, 3 }, { 5, 5 }, { 3, 5 },
					{ 2, 1 } }) {
				to.add("id", vector(id, sizes[0], sizes[1], Map.of()));
			}
		}
		to.add("default-size", vector("foobar", 100, null, Map.of()));
		to.add("default-size", vector("foobar", 101, null, Map.of()));
		to.add("default-size", vector("foobar", 250, null, Map.of()));
		for (int[] sizes : new int[][] { { 0, 0 }, { 3, 0 }, { 0, -1 }, { 3, -1 }, { 3, -2 }, { 10, -3 } }) {
			to.add("bad-size", vector("foobar", sizes[0], sizes[1], Map.of()));
		}
		Map<String, Object> whole = Json.map("spring.cloud.client.hostname", "host1", "spring.application.name", "app",
				"server.port", "8080");
		Map<String, Object> named = Json.map("spring.application.name", "app", "spring.application.instance_id", "n7",
				"server.port", "8080");
		Map<String, Object> cloud = Json.map("vcap.application.instance_id", "vcap-1", "spring.application.name", "app");
		for (String id : new String[] { "", " ", "${server.port}-x", "${missing}-x", "${missing:fallback}", "pre-${a.b:${server.port:1}}" }) {
			for (Map<String, Object> environment : List.of(whole, named, cloud, Map.<String, Object>of())) {
				to.add("environment", vector(id, 10, 3, environment));
			}
		}
		Random random = new Random(seed());
		for (int i = 0; i < 150; i++) {
			StringBuilder id = new StringBuilder();
			for (int k = random.nextInt(24) + 1; k > 0; k--) {
				id.append(i % 5 == 0 ? (char) (0xa1 + random.nextInt(0x700)) : (char) ('!' + random.nextInt(94)));
			}
			int size = 1 + random.nextInt(12);
			to.add("random", vector(id.toString().replace('$', '_'), random.nextInt(i % 3 == 0 ? 300 : 40), size, Map.of()));
		}
	}

	private static Map<String, Object> vector(String id, int count, Integer size, Map<String, Object> environment) {
		List<ServiceInstance> instances = Lab.instances(count);
		Client client = new Client();
		client.environment.putAll(environment);
		client.properties.getSubset().setInstanceId(id);
		if (size != null) {
			client.properties.getSubset().setSize(size);
		}
		Map<String, Object> vector = Json.map("instanceId", id, "size", size, "count", count, "environment",
				environment.isEmpty() ? null : environment);
		Lab.put(vector, "subset", () -> {
			ServiceInstanceListSupplier supplier = client.chain(new Lab.Base(instances), List.of("subset"));
			if (!environment.isEmpty()) {
				vector.put("resolved", ((SubsetServiceInstanceListSupplier) supplier).getInstanceId());
			}
			return new ArrayList<>(Lab.candidates(supplier, Lab.request(Lab.data()), instances));
		});
		return vector;
	}

}
