package oracle;

import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.client.DefaultLoadBalancerRetryHandler;
import com.netflix.loadbalancer.LoadBalancerContext;
import com.netflix.loadbalancer.LoadBalancerStats;
import com.netflix.loadbalancer.Server;
import com.netflix.loadbalancer.ServerStats;

/** Requests to whom the rule chooses, step by step, with what comes between them. */
final class Trace {

	static final String ABOUT = "Steps: [\"pick\", who is chosen, to whom a request begins]; [\"ok\" with a response, "
			+ "\"trip\" with a SocketException, \"fail\" with another exception, \"none\" with neither; where, after how "
			+ "many ms] a request ends; [\"wait\", ms]; [\"down\", whom the ping finds down]; [\"list\", who is in the list].";

	private final Lab.Balancer balancer;

	private final List<Server> servers;

	private final LoadBalancerContext context;

	private final List<Integer> open = new ArrayList<>();

	final List<Object> steps = new ArrayList<>();

	Trace(Lab.Balancer balancer, List<Server> servers) {
		this.balancer = balancer;
		this.servers = servers;
		this.context = context(balancer);
		balancer.list(servers);
	}

	private static LoadBalancerContext context(Lab.Balancer balancer) {
		return new LoadBalancerContext(balancer.real, null, new DefaultLoadBalancerRetryHandler());
	}

	Integer pick() {
		Integer place = balancer.pick();
		step("pick", place);
		if (place != null) {
			context.noteOpenConnection(statsOf(place));
			open.add(place);
		}
		return place;
	}

	void picks(int count) {
		for (int i = 0; i < count; i++) {
			pick();
		}
	}

	void end(String outcome, int place, int ms) {
		open.remove((Integer) place);
		complete(context, statsOf(place), outcome, ms);
		steps.add(List.of(outcome, place, ms));
	}

	/** Picks, and ends what it began. */
	void call(String outcome, int ms) {
		Integer place = pick();
		if (place != null) {
			end(outcome, place, ms);
		}
	}

	void wait(int ms) {
		Clock.wait(ms);
		step("wait", ms);
	}

	void down(Integer... places) {
		balancer.down(List.of(places));
		step("down", List.of(places));
	}

	void list(List<Integer> places) {
		balancer.list(places.stream().map(servers::get).toList());
		step("list", places);
	}

	private void step(String name, Object value) {
		List<Object> step = new ArrayList<>();
		step.add(name);
		step.add(value);
		steps.add(step);
	}

	private ServerStats statsOf(int place) {
		LoadBalancerStats stats = balancer.real.getLoadBalancerStats();
		return stats.getSingleServerStat(servers.get(place));
	}

	static void complete(LoadBalancerContext context, ServerStats stats, String outcome, int ms) {
		Object response = outcome.equals("ok") ? "response" : null;
		Throwable thrown = outcome.equals("trip") ? new SocketException() : outcome.equals("fail") ? new IOException() : null;
		context.noteRequestCompletion(stats, response, thrown, ms, context.getRetryHandler());
	}

	/** A walk of this many steps in which about one request in so many trips. */
	void random(Random random, int length, int tripOneIn, boolean isListChanging) {
		for (int i = 0; i < length; i++) {
			int kind = random.nextInt(20);
			if (kind < 11 || (kind < 16 && open.isEmpty())) {
				pick();
			}
			else if (kind < 16) {
				int place = open.get(random.nextInt(open.size()));
				String outcome = random.nextInt(tripOneIn) == 0 ? "trip" : Lab.oneOf(random, "ok", "ok", "ok", "fail", "none");
				end(outcome, place, random.nextInt(300));
			}
			else if (kind == 16) {
				// A server that fails again and again.
				int place = random.nextInt(servers.size());
				for (int k = 0; k < 4 && open.contains(place); k++) {
					end("trip", place, random.nextInt(50));
				}
			}
			else if (kind == 17) {
				wait(Lab.oneOf(random, 500, 5_000, 9_999, 10_000, 20_000, 30_000));
			}
			else if (kind == 18) {
				down(Lab.someOf(random, servers.size(), 3).toArray(Integer[]::new));
			}
			else if (isListChanging) {
				List<Integer> places = Lab.range(servers.size());
				places.removeAll(Lab.someOf(random, servers.size(), 3));
				list(places);
			}
		}
	}

	/** The whole vector, with the draws if there were some. */
	Map<String, Object> vector(Map<String, Object> given) {
		List<Object> draws = Dice.drawn();
		given.put("steps", steps);
		if (!draws.isEmpty()) {
			given.put("draws", draws);
		}
		balancer.close();
		return given;
	}

}
