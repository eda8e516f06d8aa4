package oracle;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;

import com.netflix.loadbalancer.BaseLoadBalancer;
import com.netflix.loadbalancer.Inside;
import com.netflix.loadbalancer.PingUrl;
import com.netflix.loadbalancer.RoundRobinRule;
import com.netflix.loadbalancer.Server;
import com.sun.net.httpserver.HttpServer;

/** BaseLoadBalancer's rounds of pings, PingUrl. */
final class PingTopic implements Topic {

	@Override
	public String name() {
		return "ping";
	}

	@Override
	public long seed() {
		return 20_200_342;
	}

	@Override
	public String about() {
		return "round: so many servers, of whom each round of pings finds some true, some false and some throw (answers "
				+ "by place): who is up then, and whose status changed as listeners are told (absent: none is called). "
				+ "url: PingUrl with append and expected (absent: none) of a server that answers with this status, body and "
				+ "location: alive, and the paths that it asked for; status absent: nobody listens.";
	}

	@Override
	public void write(Vectors to) throws Exception {
		to.add("round", rounds(List.of("true true true", "true false true", "true throws true", "false false false",
				"true true true")));
		to.add("round", rounds(List.of("false", "false", "throws", "true")));
		Random random = new Random(seed());
		for (int i = 0; i < 30; i++) {
			int n = 1 + random.nextInt(6);
			List<String> rounds = new ArrayList<>();
			for (int k = 0; k < 6; k++) {
				rounds.add(String.join(" ", Lab.zones(random, n, "true", "true", "false", "throws")));
			}
			to.add("round-random", rounds(rounds));
		}
		PrintStream errors = System.err;
		// PingUrl prints the trace of what it catches.
		System.setErr(new PrintStream(OutputStream.nullOutputStream()));
		for (int status : new int[] { 200, 201, 202, 204, 206, 301, 302, 304, 307, 400, 401, 404, 429, 500, 503 }) {
			to.add("url-status", url(status, status == 204 || status == 304 ? "" : "true", "/elsewhere", "/health", null));
		}
		for (int status : new int[] { 200, 404, 500 }) {
			for (String body : new String[] { "true", "true\n", "TRUE", "false", "" }) {
				to.add("url-content", url(status, body, null, "/health", "true"));
			}
			to.add("url-content", url(status, "", null, "/health", ""));
			to.add("url-content", url(status, "\u00fc", null, "/health", "\u00fc"));
		}
		to.add("url-content", url(204, "", null, "/health", ""));
		for (String append : new String[] { null, "", "/", "/a/b?c=d", "/%20", "health" }) {
			to.add("url-append", url(200, "x", null, append, null));
		}
		to.add("url-refused", url(null, null, null, "/health", null));
		to.add("url-refused", url(null, null, null, "/health", ""));
		System.setErr(errors);
	}

	private static Map<String, Object> rounds(List<String> rounds) {
		List<Boolean> answers = new ArrayList<>();
		BaseLoadBalancer balancer = new BaseLoadBalancer("svc", new RoundRobinRule(), Lab.stats(Map.of()), server -> {
			Boolean answer = answers.get(Lab.place(server));
			if (answer == null) {
				throw new IllegalStateException();
			}
			return answer;
		});
		int size = rounds.get(0).split(" ").length;
		List<TreeSet<Integer>> told = new ArrayList<>();
		balancer.addServerStatusChangeListener(servers -> told.add(new TreeSet<>(Lab.places(servers))));
		List<Server> servers = Lab.servers(size);
		List<Object> steps = new ArrayList<>();
		for (String round : rounds) {
			answers.clear();
			for (String answer : round.split(" ")) {
				answers.add(answer.equals("throws") ? null : Boolean.valueOf(answer));
			}
			told.clear();
			if (steps.isEmpty()) {
				// Another list is pinged at once.
				balancer.setServersList(servers);
			}
			else {
				Inside.ping(balancer);
			}
			steps.add(Json.map("answers", List.of(round.split(" ")), "up", Lab.places(balancer.getReachableServers()),
					"changed", told.isEmpty() ? null : told.get(0)));
		}
		balancer.shutdown();
		return Json.map("size", size, "rounds", steps);
	}

	private static Map<String, Object> url(Integer status, String body, String location, String append, String expected)
			throws IOException {
		List<String> asked = new ArrayList<>();
		HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		int port = http.getAddress().getPort();
		http.createContext("/", exchange -> {
			String path = exchange.getRequestURI().toString();
			asked.add(path);
			boolean isElsewhere = path.equals(location);
			byte[] bytes = (isElsewhere ? "there" : body).getBytes(StandardCharsets.UTF_8);
			exchange.getResponseHeaders().set("Content-Type", "text/plain;charset=UTF-8");
			if (location != null && !isElsewhere) {
				exchange.getResponseHeaders().set("Location", location);
			}
			exchange.sendResponseHeaders(isElsewhere ? 200 : status, bytes.length == 0 ? -1 : bytes.length);
			if (bytes.length > 0) {
				exchange.getResponseBody().write(bytes);
			}
			exchange.close();
		});
		http.start();
		if (status == null) {
			http.stop(0);
		}
		PingUrl ping = new PingUrl(false, append);
		ping.setExpectedContent(expected);
		String error = null;
		Boolean isAlive = null;
		try {
			isAlive = ping.isAlive(new Server("127.0.0.1", port));
		}
		catch (RuntimeException thrown) {
			error = thrown.getClass().getSimpleName();
		}
		if (status != null) {
			http.stop(0);
		}
		return Json.map("status", status, "body", body, "location", status != null && status / 100 == 3 ? location : null,
				"append", append, "expected", expected, "asked", asked, "alive", isAlive, "error", error);
	}

}
