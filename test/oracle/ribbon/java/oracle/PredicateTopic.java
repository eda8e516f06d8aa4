package oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.loadbalancer.AbstractServerPredicate;
import com.netflix.loadbalancer.CompositePredicate;
import com.netflix.loadbalancer.Server;

/** AbstractServerPredicate's rotation over those that pass, CompositePredicate's fallbacks. */
final class PredicateTopic implements Topic {

	@Override
	public String name() {
		return "predicate";
	}

	@Override
	public long seed() {
		return 20_200_336;
	}

	@Override
	public String about() {
		return "rotation: one predicate over lists of which these places pass, picks by chooseRoundRobinAfterFiltering. "
				+ "composite: size servers, of which these places pass the primary predicate and each fallback; least and "
				+ "share: the thresholds of falling back (absent: the default); eligible: whom it leaves.";
	}

	@Override
	public void write(Vectors to) {
		for (int n = 0; n <= 5; n++) {
			to.add("rotation", rotation(steady(Lab.range(n), 2 * n + 1)));
		}
		to.add("rotation", rotation(List.of(Lab.range(5), Lab.range(5), Lab.range(5), Lab.range(5), Lab.range(2),
				Lab.range(2), Lab.range(2))));
		to.add("rotation", rotation(List.of(List.of(0, 2, 4), List.of(0, 2, 4), List.of(2, 4), List.of(2, 4),
				List.of(0, 2, 4), List.of(0, 2, 4))));
		Random random = new Random(seed());
		for (int i = 0; i < 40; i++) {
			List<List<Integer>> lists = new ArrayList<>();
			for (int k = 0; k < 16; k++) {
				int n = 1 + random.nextInt(7);
				List<Integer> list = Lab.range(n);
				list.removeAll(Lab.someOf(random, n, 3));
				lists.addAll(steady(list, 1 + random.nextInt(2)));
			}
			to.add("rotation-random", rotation(lists));
		}
		for (int passing = 0; passing <= 4; passing++) {
			for (Object[] thresholds : new Object[][] { { null, null }, { 0, null }, { 2, null }, { 4, null },
					{ 5, null }, { null, 0.25f }, { null, 0.5f }, { null, 0.99f }, { null, 1f }, { 2, 0.5f } }) {
				to.add("composite", composite(4, Lab.range(passing), List.of(List.of(1, 2, 3), Lab.range(4)),
						(Integer) thresholds[0], (Float) thresholds[1]));
			}
		}
		for (int i = 0; i < 60; i++) {
			int n = random.nextInt(9);
			List<List<Integer>> fallbacks = new ArrayList<>();
			for (int k = random.nextInt(4); k > 0; k--) {
				fallbacks.add(Lab.someOf(random, n, 2));
			}
			to.add("composite-random", composite(n, Lab.someOf(random, n, 2), fallbacks,
					random.nextBoolean() ? null : random.nextInt(5), random.nextBoolean() ? null : random.nextInt(20) / 20f));
		}
	}

	private static List<List<Integer>> steady(List<Integer> list, int times) {
		return java.util.Collections.nCopies(times, list);
	}

	private static Map<String, Object> rotation(List<List<Integer>> lists) {
		AbstractServerPredicate predicate = AbstractServerPredicate.alwaysTrue();
		List<Server> servers = Lab.servers(7);
		List<Integer> picks = new ArrayList<>();
		for (List<Integer> list : lists) {
			picks.add(Lab.place(predicate.chooseRoundRobinAfterFiltering(list.stream().map(servers::get).toList()).orNull()));
		}
		return Json.map("lists", lists, "picks", picks);
	}

	private static AbstractServerPredicate passes(List<Integer> places) {
		return AbstractServerPredicate.ofServerPredicate(server -> places.contains(Lab.place(server)));
	}

	private static Map<String, Object> composite(int size, List<Integer> primary, List<List<Integer>> fallbacks,
			Integer least, Float share) {
		CompositePredicate.Builder builder = CompositePredicate.withPredicate(passes(primary));
		fallbacks.forEach(places -> builder.addFallbackPredicate(passes(places)));
		if (least != null) {
			builder.setFallbackThresholdAsMinimalFilteredNumberOfServers(least);
		}
		if (share != null) {
			builder.setFallbackThresholdAsMinimalFilteredPercentage(share);
		}
		CompositePredicate predicate = builder.build();
		List<Integer> eligible = Lab.places(predicate.getEligibleServers(Lab.servers(size), "key"));
		if (!eligible.equals(Lab.places(predicate.getEligibleServers(Lab.servers(size))))) {
			throw new IllegalStateException("the key matters");
		}
		return Json.map("size", size, "primary", primary, "fallbacks", fallbacks, "least", least, "share", share,
				"eligible", eligible);
	}

}
