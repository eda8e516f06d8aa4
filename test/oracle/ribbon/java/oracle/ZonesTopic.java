package oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import com.netflix.loadbalancer.Inside;
import com.netflix.loadbalancer.LoadBalancerStats;
import com.netflix.loadbalancer.Server;
import com.netflix.loadbalancer.ZoneAvoidanceRule;
import com.netflix.loadbalancer.ZoneSnapshot;

/** LoadBalancerStats' snapshots of zones, ZoneAvoidanceRule's choice among them. */
final class ZonesTopic implements Topic {

	@Override
	public String name() {
		return "zones";
	}

	@Override
	public long seed() {
		return 20_200_337;
	}

	@Override
	public String about() {
		return "A zone is [instances, tripped, active, load]. snapshot: servers in these zones with so many requests in "
				+ "flight and connection failures in a row, and the congestion of each zone in %. available: by zones, "
				+ "trigger and blackout, which are left for each way in which its draws (from 0) can fall; absent: none is "
				+ "known. draw: the zone that is drawn for each draw among those of from.";
	}

	@Override
	public void write(Vectors to) {
		to.add("snapshot", snapshot(List.of("a", "a", "a"), List.of(4, 2, 9), List.of(0, 0, 3)));
		to.add("snapshot", snapshot(List.of("a", "a", "b"), List.of(4, 2, 9), List.of(3, 4, 2)));
		to.add("snapshot", snapshot(List.of("A", "a", "B"), List.of(1, 2, 3), List.of(0, 0, 0)));
		to.add("snapshot", snapshot(Arrays.asList(null, "a", null), List.of(1, 2, 3), List.of(0, 0, 5)));
		to.add("snapshot", snapshot(List.of(), List.of(), List.of()));
		Random random = new Random(seed());
		for (int i = 0; i < 40; i++) {
			int n = 1 + random.nextInt(9);
			to.add("snapshot-random",
					snapshot(Lab.zones(random, n, "a", "b", "c"), Lab.ints(random, n, 6), Lab.ints(random, n, 5)));
		}
		to.add("available", available(0.2, 0.99999));
		to.add("available", available(0.2, 0.99999, "a", 2, 2, -1.0));
		to.add("available", available(0.2, 0.99999, "a", 0, 0, 0.0));
		to.add("available", available(0.2, 0.99999, "a", 3, 0, 0.1, "b", 3, 0, 0.15));
		to.add("available", available(0.2, 0.99999, "a", 3, 0, 0.1, "b", 3, 0, 0.5));
		to.add("available", available(0.2, 0.99999, "a", 2, 2, -1.0, "b", 2, 0, 0.0, "c", 2, 0, 0.0));
		to.add("available", available(0.2, 0.99999, "a", 2, 2, -1.0, "b", 2, 0, 0.0));
		to.add("available", available(0.2, 0.99999, "a", 2, 0, 0.1, "b", 0, 0, 0.0));
		to.add("available", available(0.2, 0.99999, "a", 1, 0, 0.4, "b", 3, 0, 0.4, "c", 4, 0, 0.0));
		to.add("available", available(0.2, 0.99999, "a", 2, 0, 0.2, "b", 2, 0, 0.0));
		to.add("available", available(0.2, 0.99999, "a", 2, 0, 0.19999999, "b", 2, 0, 0.0));
		to.add("available", available(0.2, 0.99999, "a", 2, 0, 0.5, "b", 2, 0, 0.5000009));
		to.add("available", available(0.2, 0.99999, "a", 2, 0, 0.5, "b", 2, 0, 0.500001));
		to.add("available", available(0.2, 0.99999, "a", 2, 2, -1.0, "b", 2, 2, -1.0));
		to.add("available", available(0.2, 0.5, "a", 2, 1, 0.0, "b", 2, 0, 0.0, "c", 1, 0, 3.0));
		to.add("available", available(0.2, 0.99999, "a", 100_000, 99_999, 1.0, "b", 2, 0, 0.0));
		to.add("available", available(0.2, 0.99999, "a", 200_000, 199_999, 1.0, "b", 2, 0, 0.0));
		to.add("available", available(0.0, 0.99999, "a", 2, 0, 0.0, "b", 3, 0, 0.0));
		for (int i = 0; i < 120; i++) {
			Map<String, ZoneSnapshot> zones = new TreeMap<>();
			for (int k = 2 + random.nextInt(4); k > 0; k--) {
				int n = random.nextInt(5);
				int tripped = n == 0 || random.nextInt(3) > 0 ? 0 : random.nextInt(n + 1);
				int active = random.nextInt(i % 2 == 0 ? 2 : 6);
				double load = n == 0 ? 0 : n == tripped ? -1 : (double) active / (n - tripped);
				zones.put("" + "abcde".charAt(k - 1), new ZoneSnapshot(n, tripped, active, load));
			}
			to.add("available-random", available(Lab.oneOf(random, 0.2, 0.2, 1.0), Lab.oneOf(random, 0.99999, 0.5), zones));
		}
		to.add("draw", draw(zones("a", 1, 0, 0.0, "b", 3, 0, 0.0, "c", 2, 0, 0.0), "a", "b", "c"));
		to.add("draw", draw(zones("a", 1, 0, 0.0, "b", 3, 0, 0.0, "c", 2, 0, 0.0), "b", "c"));
		to.add("draw", draw(zones("a", 1, 0, 0.0, "b", 3, 0, 0.0), "b"));
		to.add("draw", draw(zones("a", 1, 0, 0.0), new String[0]));
		to.add("draw", draw(zones("a", 0, 0, 0.0, "b", 2, 0, 0.0), "a", "b"));
	}

	private static Map<String, Object> snapshot(List<String> zones, List<Integer> active, List<Integer> failures) {
		Clock.reset();
		LoadBalancerStats stats = Lab.stats(Map.of());
		List<Server> servers = Lab.servers(zones);
		Lab.load(stats, servers, active, failures);
		Map<String, List<Server>> byZone = new TreeMap<>();
		servers.forEach(server -> byZone.computeIfAbsent(server.getZone().toLowerCase(), zone -> new ArrayList<>())
			.add(server));
		stats.updateZoneServerMapping(byZone);
		Map<String, Object> snapshots = new TreeMap<>();
		Map<String, Object> congestion = new TreeMap<>();
		for (String zone : new TreeSet<>(stats.getAvailableZones())) {
			snapshots.put(zone, list(stats.getZoneSnapshot(zone)));
			congestion.put(zone, stats.getCongestionRatePercentage(zone));
		}
		Lab.close(stats);
		return Json.map("zones", zones, "active", active, "failures", failures, "snapshot", snapshots, "congestion",
				congestion);
	}

	private static List<Object> list(ZoneSnapshot zone) {
		return List.of(zone.getInstanceCount(), zone.getCircuitTrippedCount(), zone.getActiveRequestsCount(),
				zone.getLoadPerServer());
	}

	/** Name, instances, tripped, load; and again. */
	private static Map<String, ZoneSnapshot> zones(Object... fields) {
		Map<String, ZoneSnapshot> zones = new TreeMap<>();
		for (int i = 0; i < fields.length; i += 4) {
			zones.put((String) fields[i],
					new ZoneSnapshot((Integer) fields[i + 1], (Integer) fields[i + 2], 0, (Double) fields[i + 3]));
		}
		return zones;
	}

	private static Map<String, Object> shown(Map<String, ZoneSnapshot> zones) {
		Map<String, Object> shown = new TreeMap<>();
		zones.forEach((name, zone) -> shown.put(name, list(zone)));
		return shown;
	}

	private static Map<String, Object> available(double trigger, double blackout, Object... fields) {
		return available(trigger, blackout, zones(fields));
	}

	private static Map<String, Object> available(double trigger, double blackout, Map<String, ZoneSnapshot> zones) {
		List<Object> outcomes = new ArrayList<>();
		for (Dice.Outcome<TreeSet<String>> outcome : Dice.outcomes(() -> {
			Set<String> left = ZoneAvoidanceRule.getAvailableZones(zones, trigger, blackout);
			return left == null ? null : new TreeSet<>(left);
		})) {
			outcomes.add(Json.map("draws", outcome.draws(), "zones", outcome.result()));
		}
		return Json.map("zones", shown(zones), "trigger", trigger, "blackout", blackout, "outcomes", outcomes);
	}

	private static Map<String, Object> draw(Map<String, ZoneSnapshot> zones, String... from) {
		List<Object> outcomes = new ArrayList<>();
		for (Dice.Outcome<String> outcome : Dice
			.outcomes(() -> Inside.drawZone(zones, new LinkedHashSet<>(List.of(from))))) {
			outcomes.add(outcome.result());
		}
		return Json.map("zones", shown(zones), "from", List.of(from), "drawn", outcomes);
	}

}
