package oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.client.config.IClientConfig;
import com.netflix.loadbalancer.BaseLoadBalancer;
import com.netflix.loadbalancer.DummyPing;
import com.netflix.loadbalancer.DynamicServerListLoadBalancer;
import com.netflix.loadbalancer.IPing;
import com.netflix.loadbalancer.Inside;
import com.netflix.loadbalancer.NoOpPing;
import com.netflix.loadbalancer.PingConstant;
import com.netflix.loadbalancer.RoundRobinRule;
import com.netflix.loadbalancer.Server;

/** BaseLoadBalancer.setServersList and DynamicServerListLoadBalancer's refreshes: who is alive when. */
final class ServerListTopic implements Topic {

	@Override
	public String name() {
		return "server-list";
	}

	@Override
	public long seed() {
		return 20_200_343;
	}

	@Override
	public String about() {
		return "Steps of a balancer with this ping (manual: it finds down whom the last \"down\" names; of Dummy, a "
				+ "round does nothing): [\"list\", who is in the list, each time as new servers], [\"down\", whom pings "
				+ "find down from now on], [\"ping\"] a round that the timer begins, [\"mark\", who is marked as down]; then "
				+ "alive: of the list by place, up: who is up, in its order, pings: how many servers were pinged in the "
				+ "step, changed: whether the listener for lists was called. refresh: DynamicServerListLoadBalancer fetches "
				+ "the list, otherwise setServersList is called.";
	}

	@Override
	public void write(Vectors to) {
		for (boolean isRefresh : new boolean[] { false, true }) {
			for (String ping : List.of("manual", "Dummy", "NoOp", "Constant true", "Constant false")) {
				to.add("steps", walk(isRefresh, ping, List.of("list 0 1 2", "ping", "list 0 1 2", "list 2 1 0", "list 0 1",
						"list", "ping", "list 3")));
				to.add("steps", walk(isRefresh, ping, List.of("list 0 1 2", "down 1", "ping", "list 0 1 2", "ping",
						"list 0 1 2 3", "ping", "down", "ping")));
				to.add("steps",
						walk(isRefresh, ping, List.of("list 0 1 2", "mark 1", "list 0 1 2", "mark 0", "ping", "list 0 1")));
			}
		}
		Random random = new Random(seed());
		for (int i = 0; i < 40; i++) {
			List<String> steps = new ArrayList<>();
			for (int k = 0; k < 12; k++) {
				int kind = random.nextInt(8);
				List<String> places = Lab.someOf(random, 5, 2).stream().map(String::valueOf).toList();
				steps.add(kind < 3 || k == 0 ? String.join(" ", list("list", places))
						: kind < 5 ? String.join(" ", list("down", places)) : kind < 7 ? "ping" : "mark " + random.nextInt(5));
			}
			to.add("random", walk(i % 2 == 0, "manual", steps));
		}
	}

	private static List<String> list(String first, List<String> rest) {
		List<String> all = new ArrayList<>(List.of(first));
		all.addAll(rest);
		return all;
	}

	private static Map<String, Object> walk(boolean isRefresh, String pingName, List<String> script) {
		List<Integer> down = new ArrayList<>();
		int[] pings = { 0 };
		IPing ping = switch (pingName) {
			case "Dummy" -> new DummyPing();
			case "NoOp" -> new NoOpPing();
			case "manual" -> server -> {
				pings[0]++;
				return !down.contains(Lab.place(server));
			};
			default -> {
				PingConstant constant = new PingConstant();
				constant.setConstant(pingName.endsWith("true"));
				yield constant;
			}
		};
		IClientConfig config = new Settings(Map.of());
		Fetched fetched = new Fetched();
		BaseLoadBalancer balancer = isRefresh
				? new DynamicServerListLoadBalancer<>(config, new RoundRobinRule(), ping, fetched, null, new Lab.NoUpdater())
				: new BaseLoadBalancer(config, new RoundRobinRule(), ping);
		boolean[] isChanged = { false };
		balancer.addServerListChangeListener((before, after) -> isChanged[0] = true);
		List<Object> steps = new ArrayList<>();
		for (String line : script) {
			String[] words = line.split(" ");
			List<Integer> places = new ArrayList<>();
			for (int i = 1; i < words.length; i++) {
				places.add(Integer.valueOf(words[i]));
			}
			pings[0] = 0;
			isChanged[0] = false;
			switch (words[0]) {
				case "list" -> {
					fetched.list = places.stream().map(place -> new Server("i" + place, 8080)).toList();
					if (balancer instanceof DynamicServerListLoadBalancer<?> dynamic) {
						dynamic.updateListOfServers();
					}
					else {
						balancer.setServersList(fetched.list);
					}
				}
				case "down" -> {
					down.clear();
					down.addAll(places);
				}
				case "ping" -> {
					if (!pingName.equals("Dummy")) {
						Inside.ping(balancer);
					}
				}
				default -> balancer.markServerDown("i" + words[1] + ":8080");
			}
			List<Boolean> alive = balancer.getAllServers().stream().map(Server::isAlive).toList();
			steps.add(Json.map("step", words[0].equals("ping") ? List.of("ping") : List.of(words[0], places), "alive", alive,
					"up", Lab.places(balancer.getReachableServers()), "pings", pings[0] == 0 ? null : pings[0], "changed",
					isChanged[0] ? true : null));
		}
		balancer.shutdown();
		Lab.close(balancer.getLoadBalancerStats());
		return Json.map("refresh", isRefresh, "ping", pingName, "steps", steps);
	}

	private static final class Fetched implements com.netflix.loadbalancer.ServerList<Server> {

		List<Server> list = List.of();

		@Override
		public List<Server> getInitialListOfServers() {
			return list;
		}

		@Override
		public List<Server> getUpdatedListOfServers() {
			return list;
		}

	}

}
