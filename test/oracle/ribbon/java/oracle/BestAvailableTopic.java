package oracle;

import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.loadbalancer.BestAvailableRule;

/** BestAvailableRule. */
final class BestAvailableTopic implements Topic {

	@Override
	public String name() {
		return "best-available";
	}

	@Override
	public long seed() {
		return 20_200_334;
	}

	@Override
	public String about() {
		return "size servers, all in the list and up at first. " + Trace.ABOUT;
	}

	@Override
	public void write(Vectors to) {
		for (int n = 1; n <= 4; n++) {
			Trace trace = trace(n);
			trace.picks(2 * n + 1);
			to.add("ties", trace.vector(Json.map("size", n)));
		}
		Trace trip = trace(3);
		trip.call("trip", 1);
		trip.call("trip", 1);
		trip.call("trip", 1);
		trip.picks(3);
		trip.wait(9_999);
		trip.pick();
		trip.wait(1);
		trip.picks(2);
		to.add("tripped", trip.vector(Json.map("size", 3)));
		Trace all = trace(2);
		for (int i = 0; i < 6; i++) {
			all.call("trip", 1);
		}
		all.picks(5);
		to.add("tripped", all.vector(Json.map("size", 2)));
		Trace expired = trace(2);
		expired.picks(3);
		for (int ms : new int[] { 600_000, 1 }) {
			expired.wait(ms);
			expired.call("ok", 5);
		}
		to.add("expired", expired.vector(Json.map("size", 2)));
		Trace dead = trace(3);
		dead.down(0);
		dead.picks(4);
		dead.down(0, 1, 2);
		dead.picks(2);
		to.add("down", dead.vector(Json.map("size", 3)));
		Trace gone = trace(3);
		gone.picks(2);
		gone.list(List.of());
		gone.pick();
		gone.list(List.of(2, 1, 0));
		gone.picks(4);
		to.add("list", gone.vector(Json.map("size", 3)));
		Random random = new Random(seed());
		for (int i = 0; i < 60; i++) {
			int n = 1 + random.nextInt(6);
			Trace trace = trace(n);
			trace.random(random, 40, 2 + i % 3, i % 2 == 0);
			to.add("random", trace.vector(Json.map("size", n)));
		}
	}

	private static Trace trace(int size) {
		Clock.reset();
		return new Trace(new Lab.Balancer(new BestAvailableRule(), Map.of()), Lab.servers(size));
	}

}
