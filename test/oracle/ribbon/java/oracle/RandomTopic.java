package oracle;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;

import com.netflix.loadbalancer.RandomRule;
import com.netflix.loadbalancer.Server;

/** RandomRule. */
final class RandomTopic implements Topic {

	private static final class Rule extends RandomRule {

		final Deque<Integer> draws = new ArrayDeque<>();

		@Override
		protected int chooseRandomInt(int serverCount) {
			return draws.removeFirst();
		}

	}

	@Override
	public String name() {
		return "random";
	}

	@Override
	public String about() {
		return "size servers, of whom the ping finds some down: picks has one for each index that can be drawn. marked: "
				+ "who died since the last ping, still among those up; then draws are the indices that one pick takes.";
	}

	@Override
	public void write(Vectors to) {
		for (int n = 0; n <= 5; n++) {
			for (int set = 0; set < 1 << n; set++) {
				List<Integer> down = new ArrayList<>();
				for (int i = 0; i < n; i++) {
					if ((set >> i & 1) == 1) {
						down.add(i);
					}
				}
				to.add(set == 0 ? "alive" : "down", everyIndex(n, down));
			}
		}
		to.add("marked", again(3, List.of(1), List.of(1, 1, 2)));
		to.add("marked", again(3, List.of(0, 2), List.of(2, 0, 1)));
		to.add("marked", again(4, List.of(0), List.of(3)));
	}

	private static Map<String, Object> everyIndex(int size, List<Integer> down) {
		Rule rule = new Rule();
		Lab.Balancer balancer = new Lab.Balancer(rule, Map.of());
		balancer.list(Lab.servers(size));
		balancer.down(down);
		List<Integer> picks = new ArrayList<>();
		for (int i = 0; i < size; i++) {
			rule.draws.add(i);
			picks.add(balancer.pick());
		}
		if (size == 0) {
			picks.add(balancer.pick());
		}
		balancer.close();
		return Json.map("size", size, "down", down, "picks", picks);
	}

	private static Map<String, Object> again(int size, List<Integer> marked, List<Integer> draws) {
		Rule rule = new Rule();
		Lab.Balancer balancer = new Lab.Balancer(rule, Map.of());
		List<Server> servers = Lab.servers(size);
		balancer.list(servers);
		marked.forEach(place -> balancer.real.markServerDown(servers.get(place)));
		rule.draws.addAll(draws);
		List<Integer> picks = new ArrayList<>();
		picks.add(balancer.pick());
		balancer.close();
		return Json.map("size", size, "down", List.of(), "marked", marked, "draws", draws, "picks", picks);
	}

}
