package oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.loadbalancer.AbstractLoadBalancerRule;
import com.netflix.loadbalancer.BaseLoadBalancer;
import com.netflix.loadbalancer.RetryRule;
import com.netflix.loadbalancer.Server;

/** RetryRule. */
final class RetryRuleTopic implements Topic {

	@Override
	public String name() {
		return "retry-rule";
	}

	@Override
	public long seed() {
		return 20_200_332;
	}

	@Override
	public String about() {
		return "A rule below it answers \"up\" (a server), \"down\" (one that is not alive) or \"none\", after eachMs of "
				+ "the clock, and the last of its answers for ever: asked is how often it was, afterMs when the pick "
				+ "had its answer; maxRetryMillis absent: not set.";
	}

	@Override
	public void write(Vectors to) {
		for (List<String> answers : List.of(List.of("up"), List.of("none"), List.of("down"), List.of("none", "up"),
				List.of("down", "up"), List.of("none", "down", "none", "down", "up"), List.of("down", "none"))) {
			for (int eachMs : new int[] { 1, 50, 99, 100, 101, 250, 600 }) {
				to.add("answers", vector(100L, eachMs, answers));
			}
		}
		for (Long max : new Long[] { null, 1L, 0L, -1L, 499L, 500L, 501L, 1000L }) {
			to.add("time", vector(max, 100, List.of("none")));
			to.add("time", vector(max, 100, List.of("none", "none", "none", "none", "none", "up")));
			to.add("time", vector(max, 100, List.of("none", "none", "none", "none", "none", "none", "up")));
		}
		Random random = new Random(seed());
		for (int i = 0; i < 30; i++) {
			List<String> answers = new ArrayList<>();
			for (int k = random.nextInt(12); k >= 0; k--) {
				answers.add(Lab.oneOf(random, "none", "down", "none", "down", "up"));
			}
			to.add("random", vector(random.nextInt(600) + 1L, 10 * random.nextInt(15) + 5, answers));
		}
	}

	private static final class Answers extends AbstractLoadBalancerRule {

		private final List<String> answers;

		private final int eachMs;

		int asked;

		Answers(List<String> answers, int eachMs) {
			this.answers = answers;
			this.eachMs = eachMs;
		}

		@Override
		public Server choose(Object key) {
			String answer = answers.get(Math.min(asked, answers.size() - 1));
			asked++;
			Clock.wait(eachMs);
			Server server = new Server("i0", 8080);
			server.setAlive(answer.equals("up"));
			return answer.equals("none") ? null : server;
		}

	}

	private static Map<String, Object> vector(Long max, int eachMs, List<String> answers) {
		Clock.reset();
		Answers below = new Answers(answers, eachMs);
		RetryRule rule = max == null ? new RetryRule(below) : new RetryRule(below, max);
		long start = Clock.now();
		Server chosen = new BaseLoadBalancer("svc", rule, Lab.stats(Map.of())).chooseServer(null);
		return Json.map("maxRetryMillis", max, "eachMs", eachMs, "answers", answers, "picked", chosen != null, "asked",
				below.asked, "afterMs", Clock.now() - start);
	}

}
