package oracle;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.loadbalancer.Inside;
import com.netflix.loadbalancer.Server;
import com.netflix.loadbalancer.ServerStats;
import com.netflix.loadbalancer.WeightedResponseTimeRule;

/** WeightedResponseTimeRule. */
final class WeightedResponseTimeTopic implements Topic {

	@Override
	public String name() {
		return "weighted-response-time";
	}

	@Override
	public long seed() {
		return 20_200_333;
	}

	@Override
	public String about() {
		return "Servers with these response times in ms each; accumulated: the weights summed up so far, as the timer's "
				+ "task leaves them; then size servers are in the list (absent: as many) and the ping finds some down; "
				+ "picks follow from draws of [0, 1), of which those for a dead server are followed by another; drawn "
				+ "is how many were taken, 0 where it went round instead.";
	}

	@Override
	public void write(Vectors to) {
		List<Double> tenths = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			tenths.add(i / 20.0);
		}
		tenths.add(Math.nextDown(1.0));
		for (List<Integer> means : List.of(List.of(10, 40, 50, 0), List.of(100), List.of(0, 0, 0), List.of(100, 0),
				List.of(0, 100), List.of(5, 5), List.of(100, 200, 300), List.of(10, 20), List.of(1000, 1, 1, 1),
				List.of(7, 0, 0))) {
			to.add("table", vector(means.stream().map(mean -> mean == 0 ? List.<Integer>of() : List.of(mean)).toList(), null,
					List.of(), tenths));
		}
		for (List<Integer> first : List.of(List.of(100, 0, 0), List.of(100, 0), List.of(9, 9, 9))) {
			to.add("zero", vector(first.stream().map(List::of).toList(), null, List.of(),
					List.of(0.0, Double.MIN_VALUE, 1e-300, 1e-17, 0.0)));
		}
		to.add("small", vector(List.of(List.of(0, 0, 0), List.of(0), List.of()), null, List.of(), tenths));
		Random random = new Random(seed());
		for (int size = 0; size <= 6; size++) {
			to.add("list", vector(times(random, 4), size, List.of(), draws(random, 12)));
		}
		for (int i = 0; i < 20; i++) {
			int n = 2 + random.nextInt(5);
			List<Integer> down = Lab.someOf(random, n, 3);
			down.remove((Integer) (n - 1));
			List<List<Integer>> times = times(random, n);
			to.add("down", vector(times, null, down, draws(random, 40)));
		}
		for (int i = 0; i < 60; i++) {
			to.add("random", vector(times(random, 1 + random.nextInt(9)), null, List.of(), draws(random, 12)));
		}
	}

	private static List<List<Integer>> times(Random random, int count) {
		List<List<Integer>> times = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			times.add(Lab.ints(random, random.nextInt(5), random.nextBoolean() ? 50 : 2000));
		}
		return times;
	}

	private static List<Double> draws(Random random, int count) {
		List<Double> draws = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			draws.add(random.nextInt(10_000) / 10_000.0);
		}
		return draws;
	}

	private static Map<String, Object> vector(List<List<Integer>> times, Integer size, List<Integer> down,
			List<Double> draws) {
		WeightedResponseTimeRule rule = new WeightedResponseTimeRule();
		Lab.Balancer balancer = new Lab.Balancer(rule, Map.of());
		List<Server> servers = Lab.servers(Math.max(times.size(), size == null ? 0 : size));
		balancer.list(servers.subList(0, times.size()));
		for (int i = 0; i < times.size(); i++) {
			ServerStats stats = balancer.real.getLoadBalancerStats().getSingleServerStat(servers.get(i));
			times.get(i).forEach(stats::noteResponseTime);
		}
		Inside.weigh(rule);
		List<Double> accumulated = List.copyOf(Inside.weights(rule));
		if (size != null) {
			balancer.list(servers.subList(0, size));
		}
		balancer.down(down);
		// A pick that ends needs somebody alive: what is left over afterwards is not asked for.
		List<Double> laid = new ArrayList<>(draws);
		laid.addAll(Collections.nCopies(50, 0.999));
		Dice.lay(laid);
		List<Integer> picks = new ArrayList<>();
		for (int i = 0; i < (down.isEmpty() ? draws.size() : draws.size() / 2); i++) {
			picks.add(balancer.pick());
		}
		int drawn = Dice.drawn().size();
		balancer.close();
		rule.shutdown();
		return Json.map("times", times, "accumulated", accumulated, "size", size, "down", down.isEmpty() ? null : down,
				"draws", draws, "picks", picks, "drawn", drawn);
	}

}
