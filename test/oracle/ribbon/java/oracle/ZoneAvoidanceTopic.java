package oracle;

import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.loadbalancer.AvailabilityFilteringRule;
import com.netflix.loadbalancer.AbstractLoadBalancerRule;
import com.netflix.loadbalancer.RoundRobinRule;
import com.netflix.loadbalancer.ZoneAvoidanceRule;

/** ZoneAvoidanceRule, and ZoneAwareLoadBalancer over this and other rules. */
final class ZoneAvoidanceTopic implements Topic {

	private static final String ENABLED = "niws.loadbalancer.zoneAvoidanceRule.enabled";

	private static final String TRIGGER = "ZoneAwareNIWSDiscoveryLoadBalancer.svc.triggeringLoadPerServerThreshold";

	private static final String BLACKOUT = "ZoneAwareNIWSDiscoveryLoadBalancer.svc.avoidZoneWithBlackoutPercetage";

	private static final String AWARE = "ZoneAwareNIWSDiscoveryLoadBalancer.enabled";

	private static final String LIMIT = "svc.ribbon.ActiveConnectionsLimit";

	/** No zone is loaded enough to be avoided: only those whose servers are tripped. */
	private static final Map<String, ?> CALM = Map.of(TRIGGER, 1000.0);

	@Override
	public String name() {
		return "zone-avoidance";
	}

	@Override
	public long seed() {
		return 20_200_338;
	}

	@Override
	public String about() {
		return "Servers in these zones, all up at first, with the properties of the client svc and the rule; zoneAware: "
				+ "a ZoneAwareLoadBalancer is asked, otherwise its parent. " + Trace.ABOUT
				+ " draws: [below, drawn] in order; absent: none was drawn.";
	}

	@Override
	public void write(Vectors to) {
		Random random = new Random(seed());
		List<String> two = List.of("a", "a", "b", "b");
		List<String> three = List.of("a", "a", "b", "b", "b", "c");
		for (boolean isAware : new boolean[] { false, true }) {
			String group = isAware ? "aware" : "rule";
			for (Map<String, ?> properties : new Map[] { Map.of(), CALM, Map.of(TRIGGER, 1.0), Map.of(TRIGGER, 0.0),
					Map.of(ENABLED, false), Map.of(AWARE, false), Map.of(LIMIT, 1), Map.of(BLACKOUT, 0.5) }) {
				for (List<String> zones : List.of(two, three, List.of("a", "b"), List.of("a", "a", "a"),
						List.of("A", "A", "b", "b"), java.util.Arrays.asList(null, null, "b", "b"))) {
					to.add(group + "-load", held(random, "ZoneAvoidanceRule", isAware, zones, properties));
					to.add(group + "-tripped", tripped(random, "ZoneAvoidanceRule", isAware, zones, properties));
				}
			}
			for (int i = 0; i < 60; i++) {
				List<String> zones = Lab.zones(random, 2 + random.nextInt(6), "a", "b", "c");
				String rule = isAware ? Lab.oneOf(random, "ZoneAvoidanceRule", "AvailabilityFilteringRule", "RoundRobinRule")
						: "ZoneAvoidanceRule";
				Map<String, ?> properties = Lab.oneOf(random, Map.of(), CALM, Map.of(TRIGGER, 1.0));
				Trace trace = trace(random, rule, isAware, zones, properties);
				trace.random(random, 30, 2 + i % 3, false);
				to.add(group + "-random", vector(trace, rule, isAware, zones, properties));
			}
		}
		for (String rule : List.of("RoundRobinRule", "AvailabilityFilteringRule")) {
			to.add("aware-load", held(random, rule, true, three, Map.of()));
			to.add("aware-tripped", tripped(random, rule, true, three, CALM));
			to.add("aware-tripped", tripped(random, rule, true, three, Map.of()));
		}
	}

	/** Nobody answers. */
	private static Map<String, Object> held(Random random, String rule, boolean isAware, List<String> zones,
			Map<String, ?> properties) {
		Trace trace = trace(random, rule, isAware, zones, properties);
		trace.picks(zones.size() + 4);
		return vector(trace, rule, isAware, zones, properties);
	}

	/** Whoever is in the first one's zone is down without anybody knowing; the breaker finds out. */
	private static Map<String, Object> tripped(Random random, String rule, boolean isAware, List<String> zones,
			Map<String, ?> properties) {
		Trace trace = trace(random, rule, isAware, zones, properties);
		for (int i = 0; i < 4 * zones.size() + 4; i++) {
			Integer place = trace.pick();
			boolean isDown = place != null && String.valueOf(zones.get(place)).equals(String.valueOf(zones.get(0)));
			if (place != null) {
				trace.end(isDown ? "trip" : "ok", place, 1);
			}
		}
		trace.wait(10_000);
		trace.picks(4);
		return vector(trace, rule, isAware, zones, properties);
	}

	private static Trace trace(Random random, String rule, boolean isAware, List<String> zones, Map<String, ?> properties) {
		Clock.reset();
		Dice.drawFrom(random);
		AbstractLoadBalancerRule real = rule.equals("RoundRobinRule") ? new RoundRobinRule()
				: rule.equals("ZoneAvoidanceRule") ? new ZoneAvoidanceRule() : new AvailabilityFilteringRule();
		return new Trace(new Lab.Balancer(real, properties, isAware), Lab.servers(zones));
	}

	private static Map<String, Object> vector(Trace trace, String rule, boolean isAware, List<String> zones,
			Map<String, ?> properties) {
		return trace.vector(Json.map("rule", rule, "zoneAware", isAware, "zones", zones, "properties", properties));
	}

}
