package oracle;

import java.util.Map;
import java.util.Random;

import com.netflix.loadbalancer.AvailabilityFilteringRule;

/** AvailabilityFilteringRule. */
final class AvailabilityTopic implements Topic {

	private static final String LIMIT = "svc.ribbon.ActiveConnectionsLimit";

	private static final String GLOBAL_LIMIT = "niws.loadbalancer.availabilityFilteringRule.activeConnectionsLimit";

	private static final String FILTER = "niws.loadbalancer.availabilityFilteringRule.filterCircuitTripped";

	@Override
	public String name() {
		return "availability-filtering";
	}

	@Override
	public long seed() {
		return 20_200_335;
	}

	@Override
	public String about() {
		return "size servers, all in the list and up at first, with the properties of the client svc. " + Trace.ABOUT;
	}

	@Override
	public void write(Vectors to) {
		for (Map<String, ?> properties : new Map[] { Map.of(), Map.of(LIMIT, 2), Map.of(GLOBAL_LIMIT, 2),
				new java.util.TreeMap<>(Map.of(LIMIT, 1, GLOBAL_LIMIT, 3)), Map.of(LIMIT, 0) }) {
			for (int n : new int[] { 1, 3 }) {
				Trace trace = trace(n, properties);
				trace.picks(3 * n + 3);
				to.add("limit", trace.vector(Json.map("size", n, "properties", properties)));
			}
		}
		for (Map<String, ?> properties : new Map[] { Map.of(), Map.of(FILTER, false) }) {
			Trace trip = trace(3, properties);
			for (int i = 0; i < 3; i++) {
				trip.call("ok", 1);
				trip.call("ok", 1);
				trip.call("trip", 1);
			}
			trip.picks(5);
			trip.wait(9_999);
			trip.picks(2);
			trip.wait(1);
			trip.picks(4);
			to.add("tripped", trip.vector(Json.map("size", 3, "properties", properties)));
			Trace all = trace(2, properties);
			for (int i = 0; i < 6; i++) {
				all.call("trip", 1);
			}
			all.picks(6);
			to.add("tripped", all.vector(Json.map("size", 2, "properties", properties)));
		}
		// Eleven checks find nobody among more than that, the predicate then does.
		Trace many = trace(14, Map.of(LIMIT, 1));
		many.picks(13);
		many.picks(4);
		to.add("eleven", many.vector(Json.map("size", 14, "properties", Map.of(LIMIT, 1))));
		Trace dead = trace(3, Map.of());
		dead.down(1);
		dead.picks(4);
		dead.down(0, 1, 2);
		dead.picks(4);
		to.add("down", dead.vector(Json.map("size", 3, "properties", Map.of())));
		Random random = new Random(seed());
		for (int i = 0; i < 60; i++) {
			int n = 1 + random.nextInt(i % 5 == 0 ? 14 : 5);
			Map<String, ?> properties = i % 3 == 0 ? Map.of() : Map.of(LIMIT, 1 + random.nextInt(3));
			Trace trace = trace(n, properties);
			trace.random(random, 40, 2 + i % 3, i % 2 == 0);
			to.add("random", trace.vector(Json.map("size", n, "properties", properties)));
		}
	}

	private static Trace trace(int size, Map<String, ?> properties) {
		Clock.reset();
		return new Trace(new Lab.Balancer(new AvailabilityFilteringRule(), properties), Lab.servers(size));
	}

}
