package com.netflix.loadbalancer;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** What Ribbon keeps to its own package. */
public final class Inside {

	private Inside() {
	}

	/** The timer's task. */
	public static void ping(BaseLoadBalancer balancer) {
		try {
			balancer.new Pinger(balancer.pingStrategy).runPinger();
		}
		catch (Exception thrown) {
			throw new IllegalStateException(thrown);
		}
	}

	/** The timer's task. */
	public static void weigh(WeightedResponseTimeRule rule) {
		rule.new ServerWeight().maintainWeights();
	}

	public static List<Double> weights(WeightedResponseTimeRule rule) {
		return rule.getAccumulatedWeights();
	}

	public static String drawZone(Map<String, ZoneSnapshot> snapshot, Set<String> from) {
		return ZoneAvoidanceRule.randomChooseZone(snapshot, from);
	}

}
