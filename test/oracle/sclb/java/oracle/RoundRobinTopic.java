package oracle;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;

/** RoundRobinLoadBalancer over lists whose length changes between picks. */
final class RoundRobinTopic implements Topic {

	private static final int MAX = Integer.MAX_VALUE;

	private static final int MIN = Integer.MIN_VALUE;

	@Override
	public String name() {
		return "round-robin";
	}

	@Override
	public long seed() {
		return 20_240_401;
	}

	@Override
	public String about() {
		return "Round robin made with the cursor at start; before the k-th pick the list has sizes[k] instances; "
				+ "picks[k] is the place of the picked one in that list, null if nobody was picked.";
	}

	@Override
	public void write(Vectors to) {
		for (int start : new int[] { -1, 0, 1, 998, MIN, MIN + 1, -2, -4, MAX - 4, MAX - 1, MAX }) {
			for (int size : new int[] { 0, 1, 2, 3, 5, 7, 8, 10 }) {
				to.add("constant", walk(start, Collections.nCopies(12, size)));
			}
		}
		Random random = new Random(seed());
		for (int i = 0; i < 100; i++) {
			int start = switch (i % 4) {
				case 0 -> random.nextInt(1000);
				case 1 -> MAX - random.nextInt(15);
				case 2 -> -1 - random.nextInt(15);
				default -> random.nextInt();
			};
			List<Integer> sizes = new ArrayList<>();
			for (int k = 0; k < 24; k++) {
				sizes.add(k > 0 && random.nextInt(3) > 0 ? sizes.get(k - 1) : random.nextInt(i % 5 == 0 ? 100 : 6));
			}
			to.add("changing", walk(start, sizes));
		}
	}

	private static Map<String, Object> walk(int start, List<Integer> sizes) {
		Lab.Base base = new Lab.Base(List.of());
		RoundRobinLoadBalancer balancer = Lab.roundRobin(base, start);
		List<Integer> picks = new ArrayList<>();
		for (int size : sizes) {
			List<ServiceInstance> list = Lab.instances(size);
			base.list = list;
			picks.add(Lab.pick(balancer, Lab.request(Lab.data()), list));
		}
		return Json.map("start", start, "sizes", sizes, "picks", picks);
	}

}
