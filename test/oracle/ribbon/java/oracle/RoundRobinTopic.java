package oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.loadbalancer.RoundRobinRule;
import com.netflix.loadbalancer.Server;

/** RoundRobinRule. */
final class RoundRobinTopic implements Topic {

	private record Phase(int size, List<Integer> down, List<Integer> notReady, int picks) {

		Phase {
			down = List.copyOf(down);
			notReady = List.copyOf(notReady);
		}

	}

	@Override
	public String name() {
		return "round-robin";
	}

	@Override
	public long seed() {
		return 20_200_331;
	}

	@Override
	public String about() {
		return "One rule through phases: the first size servers are in the list, whom the ping finds down and who is not "
				+ "ready (absent: nobody); picks, one after the other.";
	}

	@Override
	public void write(Vectors to) {
		for (int n = 0; n <= 12; n++) {
			to.add("alive", walk(new Phase(n, List.of(), List.of(), 2 * n + 2)));
		}
		for (int n = 1; n <= 4; n++) {
			for (int set = 1; set < 1 << n; set++) {
				List<Integer> down = new ArrayList<>();
				for (int i = 0; i < n; i++) {
					if ((set >> i & 1) == 1) {
						down.add(i);
					}
				}
				to.add("down", walk(new Phase(n, down, List.of(), 8)));
				to.add("not-ready", walk(new Phase(n, List.of(), down, 8)));
			}
		}
		for (int n = 10; n <= 14; n++) {
			List<Integer> down = Lab.range(n);
			down.remove(0);
			to.add("ten-probes", walk(new Phase(n, down, List.of(), 6)));
			down.remove((Integer) (n - 1));
			to.add("ten-probes", walk(new Phase(n, down, List.of(), 6)));
		}
		Random random = new Random(seed());
		for (int i = 0; i < 60; i++) {
			List<Phase> phases = new ArrayList<>();
			for (int k = 0; k < 5; k++) {
				int n = random.nextInt(i % 4 == 0 ? 30 : 8);
				phases.add(new Phase(n, i % 2 == 0 ? List.of() : Lab.someOf(random, n, 3),
						i % 3 == 0 ? Lab.someOf(random, n, 4) : List.of(), 1 + random.nextInt(7)));
			}
			to.add("random", walk(phases.toArray(Phase[]::new)));
		}
	}

	private static Map<String, Object> walk(Phase... phases) {
		Lab.Balancer balancer = new Lab.Balancer(new RoundRobinRule(), Map.of());
		List<Server> servers = Lab.servers(30);
		List<Object> all = new ArrayList<>();
		for (Phase phase : phases) {
			List<Server> list = servers.subList(0, phase.size);
			servers.forEach(server -> server.setReadyToServe(!phase.notReady.contains(Lab.place(server))));
			balancer.list(list);
			balancer.down(phase.down);
			List<Integer> picks = new ArrayList<>();
			for (int i = 0; i < phase.picks; i++) {
				picks.add(balancer.pick());
			}
			all.add(Json.map("size", phase.size, "down", some(phase.down), "notReady", some(phase.notReady), "picks",
					picks));
		}
		balancer.close();
		return Json.map("phases", all);
	}

	private static List<Integer> some(List<Integer> places) {
		return places.isEmpty() ? null : places;
	}

}
