package oracle;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.netflix.client.ClientException;
import com.netflix.client.DefaultLoadBalancerRetryHandler;
import com.netflix.client.RequestSpecificRetryHandler;
import com.netflix.client.RetryHandler;
import com.netflix.loadbalancer.AbstractLoadBalancerRule;
import com.netflix.loadbalancer.LoadBalancerContext;
import com.netflix.loadbalancer.RoundRobinRule;
import com.netflix.loadbalancer.Server;
import com.netflix.loadbalancer.ServerStats;
import com.netflix.loadbalancer.reactive.ExecutionListener.AbortExecutionException;
import com.netflix.loadbalancer.reactive.LoadBalancerCommand;
import rx.Observable;

/** LoadBalancerCommand: whom the attempts of one call reach, and what its caller gets. */
final class CommandTopic implements Topic {

	@Override
	public String name() {
		return "command";
	}

	@Override
	public String about() {
		return "size servers and the rule, of whose attempts each ends as told, the last of them for ever (\"ok\" or "
				+ "what is thrown; A<B>: caused by): attempts are whom it asks, error what the caller gets, stats each "
				+ "one's [requests, failures in a row]. ok: [connect errors, all errors] of RequestSpecificRetryHandler over "
				+ "the default one.";
	}

	@Override
	public void write(Vectors to) {
		boolean[][] flags = { { false, false }, { true, false }, { true, true } };
		for (int same = 0; same <= 2; same++) {
			for (int next = 0; next <= 3; next++) {
				for (boolean[] ok : flags) {
					to.add("always", vector(3, "RoundRobinRule", same, next, ok, List.of("ConnectException")));
				}
				to.add("always", vector(2, "always the first", same, next, flags[2], List.of("ConnectException")));
			}
		}
		for (List<String> answers : List.of(List.of("ok"), List.of("ConnectException", "ok"),
				List.of("SocketTimeoutException", "ok"), List.of("IOException", "ok"),
				List.of("ClientException SERVER_THROTTLED", "ok"), List.of("ClientException GENERAL", "ok"),
				List.of("RuntimeException<ConnectException>", "ok"), List.of("RuntimeException", "ok"),
				List.of("AbortExecutionException", "ok"), List.of("ConnectException", "ConnectException", "ok"),
				List.of("ConnectException", "IOException", "ok"),
				List.of("ClientException SERVER_THROTTLED", "ClientException SERVER_THROTTLED", "ok"))) {
			for (boolean[] ok : flags) {
				to.add("answers", vector(3, "RoundRobinRule", 1, 1, ok, answers));
				to.add("answers", vector(3, "RoundRobinRule", 0, 1, ok, answers));
			}
		}
		to.add("nobody", vector(0, "RoundRobinRule", 1, 2, flags[2], List.of("ok")));
		to.add("alone", vector(1, "RoundRobinRule", 1, 1, flags[2], List.of("ConnectException")));
	}

	private static final class First extends AbstractLoadBalancerRule {

		@Override
		public Server choose(Object key) {
			return getLoadBalancer().getAllServers().get(0);
		}

	}

	private static Map<String, Object> vector(int size, String ruleName, int same, int next, boolean[] ok,
			List<String> answers) {
		Clock.reset();
		AbstractLoadBalancerRule rule = ruleName.equals("RoundRobinRule") ? new RoundRobinRule() : new First();
		Lab.Balancer balancer = new Lab.Balancer(rule, Map.of());
		List<Server> servers = Lab.servers(size);
		balancer.list(servers);
		RetryHandler handler = new RequestSpecificRetryHandler(ok[0], ok[1],
				new DefaultLoadBalancerRetryHandler(same, next, false), null);
		List<Integer> attempts = new ArrayList<>();
		Set<Throwable> thrown = new HashSet<>();
		String error = null;
		try {
			LoadBalancerCommand.<String>builder()
				.withLoadBalancerContext(new LoadBalancerContext(balancer.real, null, handler))
				.withRetryHandler(handler)
				.build()
				.submit(server -> {
					String answer = answers.get(Math.min(attempts.size(), answers.size() - 1));
					attempts.add(Lab.place(server));
					if (answer.equals("ok")) {
						return Observable.just(answer);
					}
					Throwable failure = failure(answer);
					thrown.add(failure);
					return Observable.error(failure);
				})
				.toBlocking()
				.single();
		}
		catch (RuntimeException wrapped) {
			// toBlocking wraps what is checked.
			boolean isWrapper = wrapped.getClass() == RuntimeException.class && !thrown.contains(wrapped);
			error = nameOf(isWrapper ? wrapped.getCause() : wrapped);
		}
		List<Object> stats = new ArrayList<>();
		for (Server server : servers) {
			ServerStats one = balancer.real.getLoadBalancerStats().getSingleServerStat(server);
			stats.add(List.of(one.getTotalRequestsCount(), one.getSuccessiveConnectionFailureCount()));
		}
		balancer.close();
		return Json.map("size", size, "rule", ruleName, "maxSame", same, "maxNext", next, "ok", List.of(ok[0], ok[1]),
				"answers", answers, "attempts", attempts, "error", error, "stats", stats);
	}

	private static Throwable failure(String name) {
		return switch (name) {
			case "ConnectException" -> new ConnectException();
			case "SocketTimeoutException" -> new SocketTimeoutException();
			case "IOException" -> new IOException();
			case "RuntimeException" -> new RuntimeException();
			case "RuntimeException<ConnectException>" -> new RuntimeException(new ConnectException());
			case "AbortExecutionException" -> new AbortExecutionException("", null);
			default -> new ClientException(ClientException.ErrorType.valueOf(name.split(" ")[1]));
		};
	}

	private static String nameOf(Throwable thrown) {
		String name = thrown instanceof ClientException client ? "ClientException " + client.getErrorType()
				: thrown.getClass().getSimpleName();
		Throwable cause = thrown.getCause();
		return cause == null ? name : name + "<" + nameOf(cause) + ">";
	}

}
