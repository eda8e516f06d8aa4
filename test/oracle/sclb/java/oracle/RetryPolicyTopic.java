package oracle;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.springframework.cloud.client.loadbalancer.LoadBalancedRetryContext;
import org.springframework.cloud.client.loadbalancer.LoadBalancerProperties;
import org.springframework.cloud.loadbalancer.blocking.retry.BlockingLoadBalancedRetryPolicy;
import org.springframework.http.HttpMethod;

/** The counters of BlockingLoadBalancedRetryPolicy, failure by failure. */
final class RetryPolicyTopic implements Topic {

	@Override
	public String name() {
		return "retry-policy";
	}

	@Override
	public String about() {
		return "The blocking retry policy with properties retry.max-retries-on-same-service-instance (maxSame), "
				+ "-on-next-service-instance (maxNext), retry-on-all-operations (allOperations), for this method: walk[k] is "
				+ "what it says after k failures: [may the same instance be tried, may the next, is it exhausted, has this "
				+ "failure given the instance up].";
	}

	@Override
	public void write(Vectors to) throws Exception {
		for (int maxSame : new int[] { -1, 0, 1, 2, 3 }) {
			for (int maxNext : new int[] { -1, 0, 1, 2, 3 }) {
				for (String method : List.of("GET", "POST")) {
					add(to, "walk", maxSame, maxNext, false, method);
				}
				add(to, "walk", maxSame, maxNext, true, "POST");
			}
		}
		for (String method : List.of("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get")) {
			add(to, "method", 1, 1, false, method);
		}
	}

	private static void add(Vectors to, String group, int maxSame, int maxNext, boolean all, String method)
			throws Exception {
		LoadBalancerProperties properties = new LoadBalancerProperties();
		properties.getRetry().setMaxRetriesOnSameServiceInstance(maxSame);
		properties.getRetry().setMaxRetriesOnNextServiceInstance(maxNext);
		properties.getRetry().setRetryOnAllOperations(all);
		BlockingLoadBalancedRetryPolicy policy = new BlockingLoadBalancedRetryPolicy(properties);
		LoadBalancedRetryContext context = new LoadBalancedRetryContext(null,
				Lab.plainRequest(URI.create("http://svc/"), HttpMethod.valueOf(method)));
		List<List<Boolean>> walk = new ArrayList<>();
		for (int failures = 0; failures < 6; failures++) {
			context.setServiceInstance(Lab.instance("a", Map.of()));
			if (failures > 0) {
				policy.registerThrowable(context, new IOException());
			}
			walk.add(List.of(policy.canRetrySameServer(context), policy.canRetryNextServer(context),
					context.isExhaustedOnly(), context.getServiceInstance() == null));
		}
		to.add(group,
				Json.map("maxSame", maxSame, "maxNext", maxNext, "allOperations", all, "method", method, "walk", walk));
	}

}
