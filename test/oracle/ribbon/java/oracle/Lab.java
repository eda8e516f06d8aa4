package oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

import com.netflix.client.config.IClientConfig;
import com.netflix.loadbalancer.AbstractLoadBalancerRule;
import com.netflix.loadbalancer.BaseLoadBalancer;
import com.netflix.loadbalancer.DynamicServerListLoadBalancer;
import com.netflix.loadbalancer.IPing;
import com.netflix.loadbalancer.LoadBalancerStats;
import com.netflix.loadbalancer.Server;
import com.netflix.loadbalancer.ServerList;
import com.netflix.loadbalancer.ServerListUpdater;
import com.netflix.loadbalancer.ServerStats;
import com.netflix.loadbalancer.ZoneAwareLoadBalancer;

/** What the topics share: servers by place, balancers whose pings answer as told, statistics made by hand. */
final class Lab {

	static final String CLIENT = "svc";

	private Lab() {
	}

	/** i0, i1, …; a zone of null is as Ribbon leaves it. */
	static List<Server> servers(List<String> zones) {
		List<Server> servers = new ArrayList<>();
		for (int i = 0; i < zones.size(); i++) {
			Server server = new Server("i" + i, 8080);
			if (zones.get(i) != null) {
				server.setZone(zones.get(i));
			}
			servers.add(server);
		}
		return servers;
	}

	static List<Server> servers(int count) {
		return servers(Arrays.asList(new String[count]));
	}

	static Integer place(Server server) {
		return server == null ? null : Integer.valueOf(server.getHost().substring(1));
	}

	static List<Integer> places(Iterable<? extends Server> servers) {
		List<Integer> places = new ArrayList<>();
		servers.forEach(server -> places.add(place(server)));
		return places;
	}

	static List<Integer> range(int count) {
		List<Integer> range = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			range.add(i);
		}
		return range;
	}

	/** A ping that finds some down. */
	static final class Verdicts implements IPing {

		final Set<Integer> down = new TreeSet<>();

		@Override
		public boolean isAlive(Server server) {
			return !down.contains(place(server));
		}

	}

	/** A balancer with one list, whose servers are down when said so. */
	static final class Balancer {

		final BaseLoadBalancer real;

		final Verdicts verdicts = new Verdicts();

		private List<Server> list = List.of();

		Balancer(AbstractLoadBalancerRule rule, Map<String, ?> properties) {
			IClientConfig config = new Settings(properties);
			rule.initWithNiwsConfig(config);
			real = new BaseLoadBalancer(config, rule, verdicts);
		}

		/** With zones: of ZoneAwareLoadBalancer or its parent, whose lists come from elsewhere. */
		Balancer(AbstractLoadBalancerRule rule, Map<String, ?> properties, boolean isZoneAware) {
			IClientConfig config = new Settings(properties);
			rule.initWithNiwsConfig(config);
			ServerList<Server> lists = new ServerList<>() {
				@Override
				public List<Server> getInitialListOfServers() {
					return list;
				}

				@Override
				public List<Server> getUpdatedListOfServers() {
					return list;
				}
			};
			real = isZoneAware
					? new ZoneAwareLoadBalancer<>(config, rule, verdicts, lists, null, new NoUpdater())
					: new DynamicServerListLoadBalancer<>(config, rule, verdicts, lists, null, new NoUpdater());
		}

		void list(List<Server> servers) {
			list = servers;
			if (real instanceof DynamicServerListLoadBalancer<?> dynamic) {
				dynamic.updateListOfServers();
			}
			else {
				real.setServersList(servers);
				com.netflix.loadbalancer.Inside.ping(real);
			}
		}

		void down(List<Integer> places) {
			verdicts.down.clear();
			verdicts.down.addAll(places);
			com.netflix.loadbalancer.Inside.ping(real);
		}

		Integer pick() {
			return place(real.chooseServer(null));
		}

		void close() {
			Lab.close(real.getLoadBalancerStats());
			real.shutdown();
		}

	}

	static final class NoUpdater implements ServerListUpdater {

		@Override
		public void start(UpdateAction action) {
		}

		@Override
		public void stop() {
		}

		@Override
		public String getLastUpdate() {
			return "";
		}

		@Override
		public long getDurationSinceLastUpdateMs() {
			return 0;
		}

		@Override
		public int getNumberMissedCycles() {
			return 0;
		}

		@Override
		public int getCoreThreads() {
			return 0;
		}

	}

	static LoadBalancerStats stats(Map<String, ?> properties) {
		LoadBalancerStats stats = new LoadBalancerStats();
		stats.initWithNiwsConfig(new Settings(properties));
		return stats;
	}

	/** Ends the publisher that every ServerStats has. */
	static void close(LoadBalancerStats stats) {
		stats.getServerStats().values().forEach(ServerStats::close);
	}

	/** As many requests in flight, and as many connection failures in a row, just now. */
	static void load(LoadBalancerStats stats, List<Server> servers, List<Integer> active, List<Integer> failures) {
		for (int i = 0; i < servers.size(); i++) {
			ServerStats one = stats.getSingleServerStat(servers.get(i));
			for (int k = 0; k < active.get(i); k++) {
				one.incrementActiveRequestsCount();
			}
			for (int k = 0; k < failures.get(i); k++) {
				one.incrementSuccessiveConnectionFailureCount();
				one.addToFailureCount();
			}
		}
	}

	/** As many numbers below the bound. */
	static List<Integer> ints(Random random, int count, int bound) {
		List<Integer> ints = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			ints.add(random.nextInt(bound));
		}
		return ints;
	}

	/** Some of the places below count, each with the chance of one in so many. */
	static List<Integer> someOf(Random random, int count, int oneIn) {
		List<Integer> some = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			if (random.nextInt(oneIn) == 0) {
				some.add(i);
			}
		}
		return some;
	}

	static List<String> zones(Random random, int count, String... names) {
		List<String> zones = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			zones.add(oneOf(random, names));
		}
		return zones;
	}

	@SafeVarargs
	static <T> T oneOf(Random random, T... values) {
		return values[random.nextInt(values.length)];
	}

	static Set<Integer> setOf(List<Integer> places) {
		return new HashSet<>(places);
	}

}
