package oracle;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.client.DefaultLoadBalancerRetryHandler;
import com.netflix.loadbalancer.BaseLoadBalancer;
import com.netflix.loadbalancer.LoadBalancerContext;
import com.netflix.loadbalancer.LoadBalancerStats;
import com.netflix.loadbalancer.RoundRobinRule;
import com.netflix.loadbalancer.Server;
import com.netflix.loadbalancer.ServerStats;
import com.netflix.stats.distribution.DataDistribution;

/** ServerStats with its breaker, its windows and its distributions. */
final class ServerStatsTopic implements Topic {

	private static final String THRESHOLD = "niws.loadbalancer.svc.connectionFailureCountThreshold";

	private static final String FACTOR = "niws.loadbalancer.svc.circuitTripTimeoutFactorSeconds";

	private static final String MAX = "niws.loadbalancer.svc.circuitTripMaxTimeoutSeconds";

	private static final double[] PERCENTS = { 10, 25, 50, 75, 90, 95, 98, 99, 99.5 };

	@Override
	public String name() {
		return "server-stats";
	}

	@Override
	public long seed() {
		return 20_200_339;
	}

	@Override
	public String about() {
		return "blackout: by the failures in a row from 0, for how many ms a server is tripped after the last. trace: "
				+ "[\"start\"] a request begins; [\"ok\" with a response, \"trip\" with a SocketException, \"fail\" with "
				+ "another exception, \"none\" with neither; ms] one ends; [\"wait\", ms]; [\"see\", requests, in flight, "
				+ "failures in a row, tripped, failures in the current second, requests in the last whole five minutes, "
				+ "mean, standard deviation, min and max of all response times]. percentiles: of "
				+ Arrays.toString(PERCENTS) + " % over a buffer of so many samples, and their number, mean, standard "
				+ "deviation, min and max; again: as published once more without a sample.";
	}

	@Override
	public void write(Vectors to) throws Exception {
		to.add("blackout", blackout(Map.of()));
		for (int[] given : new int[][] { { 3, 10, 30 }, { 3, 1, 3600 }, { 1, 1, 1_000_000 }, { 5, 2, 7 }, { 3, 10, 5 },
				{ 3, 0, 30 }, { 3, 10, 0 }, { 0, 10, 30 }, { 2, 100, 100_000 }, { 1, 40_000, 2_000_000_000 } }) {
			to.add("blackout", blackout(Json.map(THRESHOLD, given[0], FACTOR, given[1], MAX, given[2])));
		}
		to.add("blackout", blackout(Json.map("niws.loadbalancer.default.connectionFailureCountThreshold", 2,
				"niws.loadbalancer.default.circuitTripTimeoutFactorSeconds", 3)));
		to.add("trace", trace(Map.of(), List.of("see", "start", "see", "ok 7", "see", "start", "ok 9", "see")));
		to.add("trace", trace(Map.of(), List.of("start", "trip 1", "start", "trip 1", "see", "start", "trip 1", "see", "wait 9999",
				"see", "wait 1", "see", "start", "trip 1", "see", "wait 19999", "see", "wait 1", "see", "start", "ok 1",
				"see")));
		to.add("trace", trace(Map.of(), List.of("start", "trip 1", "start", "trip 1", "start", "fail 1", "see", "start", "trip 1",
				"start", "trip 1", "start", "none 1", "see", "start", "trip 1", "see")));
		to.add("trace", trace(Map.of(), List.of("start", "trip 1", "start", "trip 1", "start", "trip 1", "wait 5000", "start",
				"trip 1", "see", "wait 19999", "see", "wait 1", "see")));
		to.add("trace", trace(Map.of(), List.of("ok 1", "see", "start", "start", "see", "wait 600000", "see", "wait 1", "see", "ok 1",
				"see", "start", "see")));
		to.add("trace", trace(Map.of(), List.of("start", "wait 300000", "see", "wait 1", "see", "start", "wait 300000", "see",
				"wait 1", "see", "wait 300001", "see")));
		to.add("trace", trace(Map.of(), List.of("start", "trip 1", "see", "wait 1000", "see", "wait 1", "see", "start", "trip 1",
				"wait 1000", "start", "trip 1", "see", "wait 1", "see")));
		to.add("trace", trace(Map.of(), List.of("start", "start", "start", "start", "start", "start", "trip 1", "trip 1", "trip 1",
				"trip 1", "trip 1", "see", "wait 29999", "see", "trip 1", "see", "wait 29999", "see", "wait 1", "see", "start",
				"ok 1", "see", "start", "trip 1", "see")));
		to.add("trace", trace(Map.of(THRESHOLD, 0), List.of("see", "start", "start", "start", "trip 1", "see", "wait 1000",
				"ok 1", "see", "wait 8999", "see", "wait 1", "see", "trip 1", "wait 19999", "see", "wait 1", "see")));
		to.add("trace", trace(Json.map(THRESHOLD, 1, FACTOR, 1, MAX, 2), List.of("start", "trip 1", "see", "wait 1000", "see",
				"start", "trip 1", "wait 1999", "see", "wait 1", "see", "start", "trip 1", "wait 1999", "see", "wait 1", "see")));
		Random random = new Random(seed());
		for (int i = 0; i < 60; i++) {
			List<String> steps = new ArrayList<>();
			for (int k = 0; k < 30; k++) {
				int kind = random.nextInt(10);
				steps.add(kind < 3 ? "start"
						: kind < 6 ? Lab.oneOf(random, "ok", "trip", "trip", "trip", "fail", "none") + " "
								+ random.nextInt(3000)
								: kind < 8 ? "wait " + Lab.oneOf(random, 1, 300, 1000, 1001, 10_000, 299_999, 600_001) : "see");
			}
			steps.add("see");
			to.add("trace-random", trace(Map.of(), steps));
		}
		to.add("percentiles", percentiles(100, List.of()));
		to.add("percentiles", percentiles(100, List.of(100)));
		to.add("percentiles", percentiles(100, List.of(10, 20)));
		to.add("percentiles", percentiles(100, List.of(10, 9, 8, 7, 6, 5, 4, 3, 2, 1)));
		to.add("percentiles", percentiles(100, Collections.nCopies(7, 0)));
		to.add("percentiles", percentiles(8, List.of(100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 5, 4, 3)));
		to.add("percentiles", percentiles(8, List.of(1, 2, 3, 4, 5, 6, 7, 8)));
		for (int i = 0; i < 40; i++) {
			to.add("percentiles-random",
					percentiles(i % 4 == 0 ? 16 : 1000, Lab.ints(random, random.nextInt(i % 5 == 0 ? 220 : 30), 5000)));
		}
	}

	private static Map<String, Object> blackout(Map<String, ?> properties) throws Exception {
		Clock.reset();
		LoadBalancerStats stats = Lab.stats(properties);
		ServerStats one = stats.getSingleServerStat(Lab.servers(1).get(0));
		Method period = ServerStats.class.getDeclaredMethod("getCircuitBreakerBlackoutPeriod");
		period.setAccessible(true);
		List<Object> blackouts = new ArrayList<>();
		for (int failures = 0; failures <= 21; failures++) {
			long ms = (Long) period.invoke(one);
			long last = Clock.now();
			boolean isTripped = one.isCircuitBreakerTripped(last + ms - 1);
			if (failures > 0 && (isTripped != ms > 0 || one.isCircuitBreakerTripped(last + ms))) {
				throw new IllegalStateException("tripped otherwise than for the period");
			}
			blackouts.add(ms);
			one.incrementSuccessiveConnectionFailureCount();
		}
		Lab.close(stats);
		return Json.map("properties", properties, "ms", blackouts);
	}

	private static Map<String, Object> trace(Map<String, ?> properties, List<String> steps) {
		Clock.reset();
		LoadBalancerStats stats = Lab.stats(properties);
		Server server = Lab.servers(1).get(0);
		ServerStats one = stats.getSingleServerStat(server);
		LoadBalancerContext context = new LoadBalancerContext(new BaseLoadBalancer("svc", new RoundRobinRule(), stats), null,
				new DefaultLoadBalancerRetryHandler());
		List<Object> seen = new ArrayList<>();
		for (String step : steps) {
			String[] words = step.split(" ");
			switch (words[0]) {
				case "start" -> {
					context.noteOpenConnection(one);
					seen.add(List.of("start"));
				}
				case "wait" -> {
					Clock.wait(Integer.parseInt(words[1]));
					seen.add(List.of("wait", Integer.parseInt(words[1])));
				}
				case "see" -> seen.add(List.of("see", one.getTotalRequestsCount(), one.getActiveRequestsCount(),
						one.getSuccessiveConnectionFailureCount(), one.isCircuitBreakerTripped(), one.getFailureCount(),
						one.getMeasuredRequestsCount(), one.getResponseTimeAvg(), one.getResponseTimeStdDev(),
						one.getResponseTimeMin(), one.getResponseTimeMax()));
				default -> {
					Trace.complete(context, one, words[0], Integer.parseInt(words[1]));
					seen.add(List.of(words[0], Integer.parseInt(words[1])));
				}
			}
		}
		Lab.close(stats);
		return Json.map("properties", properties.isEmpty() ? null : properties, "steps", seen);
	}

	private static Map<String, Object> percentiles(int buffer, List<Integer> samples) {
		DataDistribution data = new DataDistribution(buffer, PERCENTS);
		samples.forEach(data::noteValue);
		data.publish();
		Map<String, Object> vector = Json.map("buffer", buffer, "samples", samples, "percentiles", percentiles(data), "size",
				data.getSampleSize(), "moments", moments(data));
		data.publish();
		vector.put("again", percentiles(data));
		return vector;
	}

	private static List<Double> percentiles(DataDistribution data) {
		return Arrays.stream(data.getPercentiles()).boxed().toList();
	}

	private static List<Object> moments(DataDistribution data) {
		return List.of(data.getNumValues(), data.getMean(), data.getStdDev(), data.getMinimum(), data.getMaximum());
	}

}
