package oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;

import com.netflix.loadbalancer.LoadBalancerStats;
import com.netflix.loadbalancer.Server;
import com.netflix.loadbalancer.ServerListSubsetFilter;
import com.netflix.loadbalancer.ServerStats;

/** ServerListSubsetFilter. */
final class SubsetFilterTopic implements Topic {

	private static final String PREFIX = "svc.ribbon.ServerListSubsetFilter.";

	@Override
	public String name() {
		return "subset-filter";
	}

	@Override
	public long seed() {
		return 20_200_341;
	}

	@Override
	public String about() {
		return "One filter with the properties of the client svc over refreshes: pool is who is in the list, active how "
				+ "many requests each of all has in flight, failures how many connections failed in the current second; "
				+ "subset is who is left, by place (Ribbon's order is that of a hash set); draws: [below, drawn].";
	}

	@Override
	public void write(Vectors to) {
		Random random = new Random(seed());
		to.add("default", walk(random, Map.of(), 30, 6, 0, false));
		to.add("default", walk(random, Map.of(), 15, 4, 0, false));
		to.add("small-pool", walk(random, Map.of(PREFIX + "size", 5), 4, 4, 0, false));
		to.add("exact-pool", walk(random, Map.of(PREFIX + "size", 5), 5, 4, 0, false));
		to.add("nobody-forced", walk(random, Json.map(PREFIX + "size", 5, PREFIX + "forceEliminatePercent", 0), 12, 5, 0,
				false));
		to.add("all-forced", walk(random, Json.map(PREFIX + "size", 5, PREFIX + "forceEliminatePercent", 1), 12, 5, 0, false));
		to.add("zone", walk(random, Json.map(PREFIX + "size", 3, "svc.ribbon.EnableZoneAffinity", true, "@zone", "a"), 9, 3,
				0, false));
		for (int i = 0; i < 40; i++) {
			Map<String, Object> properties = Json.map(PREFIX + "size", 1 + random.nextInt(8), PREFIX + "forceEliminatePercent",
					Lab.oneOf(random, 0.1, 0.25, 0.5));
			if (i % 2 == 0) {
				properties.put(PREFIX + "eliminationFailureThresold", random.nextInt(3));
				properties.put(PREFIX + "eliminationConnectionThresold", random.nextInt(3));
			}
			to.add("random", walk(random, properties, 1 + random.nextInt(14), 6, 3, i % 3 > 0));
		}
	}

	/** Each refresh with requests and failures below the bound (0: none), with the pool as it is or parts of it. */
	private static Map<String, Object> walk(Random random, Map<String, ?> properties, int size, int refreshes, int bound,
			boolean isChanging) {
		Clock.reset();
		Dice.drawFrom(random);
		ServerListSubsetFilter<Server> filter = new ServerListSubsetFilter<>(new Settings(properties));
		List<Server> servers = Lab.servers(Lab.zones(new Random(size), size, "a", "b"));
		LoadBalancerStats stats = Lab.stats(Map.of());
		filter.setLoadBalancerStats(stats);
		List<Object> steps = new ArrayList<>();
		for (int i = 0; i < refreshes; i++) {
			Random own = new Random(random.nextLong());
			Clock.wait(30_000);
			List<Integer> pool = Lab.range(size);
			if (isChanging) {
				pool.removeAll(Lab.someOf(own, size, 4));
			}
			List<Integer> active = new ArrayList<>();
			List<Integer> failures = new ArrayList<>();
			for (Server server : servers) {
				ServerStats one = stats.getSingleServerStat(server);
				while (one.getActiveRequestsCount() > 0) {
					one.decrementActiveRequestsCount();
				}
				active.add(bound == 0 || own.nextInt(3) > 0 ? 0 : own.nextInt(bound));
				failures.add(bound == 0 || own.nextInt(3) > 0 ? 0 : own.nextInt(bound));
				for (int k = 0; k < active.get(active.size() - 1); k++) {
					one.incrementActiveRequestsCount();
				}
				for (int k = 0; k < failures.get(failures.size() - 1); k++) {
					one.addToFailureCount();
				}
			}
			List<Server> left = filter.getFilteredListOfServers(pool.stream().map(servers::get).toList());
			steps.add(Json.map("pool", pool, "active", bound == 0 ? null : active, "failures", bound == 0 ? null : failures,
					"subset", new TreeSet<>(Lab.places(left)), "draws", Dice.drawn()));
		}
		Lab.close(stats);
		return Json.map("properties", properties, "size", size, "steps", steps);
	}

}
