package oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.DefaultRequest;
import org.springframework.cloud.client.loadbalancer.Request;
import org.springframework.cloud.client.loadbalancer.RetryableRequestContext;
import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;

/** WeightedServiceInstanceListSupplier: the expanded list, and round robin over it, also below RetryAware. */
final class WeightedTopic implements Topic {

	/** Up to here the expanded list is written out. */
	private static final int SHOWN = 64;

	@Override
	public String name() {
		return "weighted";
	}

	@Override
	public long seed() {
		return 20_240_402;
	}

	@Override
	public String about() {
		return "Instances with these values of the metadata key weight (null: without the key), suppliers weighted "
				+ "and, where previous is given, retry-aware outside of it: sequence is the list that the policy gets, "
				+ "as places, left out if longer than " + SHOWN
				+ "; size its length; picks those of round robin begun at start; previous is the place of the "
				+ "previous instance of every pick; error is what the pick throws.";
	}

	@Override
	public void write(Vectors to) {
		for (String text : Arrays.asList(null, "0", "1", "2", "-1", "+5", "007", " 5", "5 ", "5.0", "", " ", "1e3", "+",
				"-", "--5", "+-5", "-0", "+0", "000", "00000000000000000000005", "0x10", "5_0", "1,000", "NaN",
				"Infinity", "true", "five", "5\n", "\t5", "2147483648", "-2147483648", "-2147483649", "4294967297",
				"99999999999999999999", "\u0663", "\uff13", "\u096b", "1\u0662", "\ud835\udfdb", "\u22125", "\u2075",
				"\u00bd", "\u4e09", "\u216b", "3\u0301")) {
			to.add("text", vector(Arrays.asList(text, "3", "2"), -1, null));
		}
		for (String weights : new String[] { "1 2 3", "3 2 1", "10 20 30", "5 1 1", "100 50 75", "4 4 4", "6 9", "6 9 15",
				"7 11 13", "1 1", "2 2 2 2 1", "60 1", "8 4 2 1", "0 0 0", "-3 6", "1000 2000 500" }) {
			List<String> list = List.of(weights.split(" "));
			for (int start : new int[] { -1, 41, Integer.MAX_VALUE - 2 }) {
				to.add("divisor", vector(list, start, null));
			}
		}
		for (String one : new String[] { "1", "7", "2147483647", "-5", "none" }) {
			to.add("single", vector(List.of(one), 3, null));
		}
		to.add("empty", vector(List.of(), 3, null));
		// Sums of more than 31 bits: a negative size, an empty list, or a list shorter than it should be.
		for (List<String> large : List.of(List.of("2147483647", "1"), List.of("2147483647", "2147483647"),
				Collections.nCopies(3, "2147483647"), Collections.nCopies(2, "1073741824"),
				Collections.nCopies(4, "1073741824"), Collections.nCopies(5, "1073741824"),
				Collections.nCopies(9, "1073741824"), Collections.nCopies(10, "536870912"),
				Collections.nCopies(3, "1431655766"), List.of("1500000000", "1500000000", "1500000000", "500000000"))) {
			to.add("overflow", vector(large, 0, null));
		}
		to.add("large", vector(List.of("1000000", "1"), 999_998, null));
		to.add("large", vector(List.of("65537", "3", "256"), 65_000, null));
		Random random = new Random(seed());
		for (int i = 0; i < 130; i++) {
			List<String> weights = weights(random, 1 + random.nextInt(i % 4 == 0 ? 20 : 6));
			to.add("random", vector(weights, start(random), null));
		}
		for (int i = 0; i < 80; i++) {
			List<String> weights = weights(random, 1 + random.nextInt(5));
			to.add("retry", vector(weights, start(random), random.nextInt(weights.size())));
		}
		to.add("retry", vector(List.of("3", "1"), -1, 0));
	}

	private static int start(Random random) {
		return random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(1000);
	}

	private static List<String> weights(Random random, int count) {
		int unit = 1 + random.nextInt(4);
		List<String> weights = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			int kind = random.nextInt(12);
			weights.add(kind == 0 ? null
					: kind == 1 ? Lab.oneOf(random, "0", "-2", "x", "") : "" + unit * (1 + random.nextInt(12)));
		}
		return weights;
	}

	private static Map<String, Object> vector(List<String> weights, int start, Integer previous) {
		List<ServiceInstance> instances = Lab.instances("weight", weights);
		List<String> suppliers = previous == null ? List.of("weighted") : List.of("weighted", "retry-aware");
		ServiceInstanceListSupplier supplier = new Client().chain(new Lab.Base(instances), suppliers);
		Request<?> request = previous == null ? Lab.request(Lab.data())
				: new DefaultRequest<>(new RetryableRequestContext(instances.get(previous), Lab.data(), "default"));
		Map<String, Object> vector = Json.map("weights", weights, "previous", previous);
		Lab.put(vector, "size", () -> supplier.get(request).blockFirst().size());
		if (vector.get("size") instanceof Integer size && size <= SHOWN) {
			vector.put("sequence", Lab.candidates(supplier, request, instances));
		}
		vector.put("start", start);
		RoundRobinLoadBalancer balancer = Lab.roundRobin(supplier, start);
		Lab.put(vector, "picks", () -> {
			List<Integer> picks = new ArrayList<>();
			for (int k = 0; k < 12; k++) {
				picks.add(Lab.pick(balancer, request, instances));
			}
			return picks;
		});
		return vector;
	}

}
