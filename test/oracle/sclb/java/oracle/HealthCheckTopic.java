package oracle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.LoadBalancerProperties;
import org.springframework.cloud.loadbalancer.core.HealthCheckServiceInstanceListSupplier;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;

/** HealthCheckServiceInstanceListSupplier under Reactor's virtual time, its checks answered by a script. */
final class HealthCheckTopic implements Topic {

	@Override
	public String name() {
		return "health-check";
	}

	@Override
	public long seed() {
		return 20_240_412;
	}

	@Override
	public String about() {
		return "Health checks subscribed to at 0 and watched until untilMs: lists are what discovery gives, fetch by fetch "
				+ "(the last one again and again; null: it fails), answers those of each instance, check by check (the last "
				+ "one again and again): [delay in ms, alive|dead|error|never]; refetchMs absent: refetch-instances is off; "
				+ "emissions are the lists passed on, fetches the times of discovery, error what ended it; times in ms.";
	}

	private static final class Script {

		int initialDelayMs;

		int intervalMs = 1000;

		Integer refetchMs;

		boolean repeat = true;

		boolean update = true;

		int untilMs = 3500;

		final List<List<String>> lists = new ArrayList<>();

		final Map<String, List<List<Object>>> answers = new LinkedHashMap<>();

		Script list(String ids) {
			lists.add(ids.equals("!") ? null : ids.isEmpty() ? List.of() : List.of(ids.split(" ")));
			return this;
		}

		/** "10 alive, never" */
		Script answers(String id, String text) {
			List<List<Object>> all = new ArrayList<>();
			for (String one : text.split(", ")) {
				all.add(one.equals("never") ? List.of(0, one)
						: List.of(Integer.valueOf(one.split(" ")[0]), one.split(" ")[1]));
			}
			answers.put(id, all);
			return this;
		}

	}

	@Override
	public void write(Vectors to) {
		for (boolean update : new boolean[] { true, false }) {
			for (boolean repeat : new boolean[] { true, false }) {
				for (Integer refetch : new Integer[] { null, 2300 }) {
					for (int delay : new int[] { 0, 700 }) {
						Script script = new Script().list("a b c").list("b c d").list("c");
						script.answers("a", "0 alive, 0 dead, 30 alive").answers("b", "250 alive, never, 10 alive")
								.answers("c", "40 dead, 60 alive").answers("d", "5 error, 15 alive");
						script.update = update;
						script.repeat = repeat;
						script.refetchMs = refetch;
						script.initialDelayMs = delay;
						script.untilMs = 7000;
						add(to, "options", script);
					}
				}
				for (String answer : new String[] { "0 alive", "0 dead", "0 error", "20 dead", "20 error", "never", "999 alive",
						"1001 alive", "0 dead, 0 alive", "0 alive, never, 500 alive" }) {
					Script script = new Script().list("a b").answers("a", answer).answers("b", answer);
					script.update = update;
					script.repeat = repeat;
					add(to, "answer", script);
				}
			}
			Script none = new Script().list("");
			none.update = update;
			add(to, "no-instances", none);
			Script failing = new Script().list("!");
			failing.update = update;
			add(to, "discovery-fails", failing);
			Script later = new Script().list("a").list("!").answers("a", "0 alive");
			later.update = update;
			later.refetchMs = 1500;
			add(to, "discovery-fails", later);
		}
		Script documented = new Script().list("a").answers("a", "never, 0 alive");
		documented.initialDelayMs = 1000;
		documented.intervalMs = 25_000;
		documented.untilMs = 80_000;
		add(to, "documented", documented);
		Random random = new Random(seed());
		for (int i = 0; i < 50; i++) {
			Script script = new Script();
			script.update = i % 2 == 0;
			script.repeat = random.nextInt(5) > 0;
			script.refetchMs = random.nextInt(2) == 0 ? null : 700 + 13 * random.nextInt(200);
			script.initialDelayMs = random.nextInt(3) == 0 ? random.nextInt(1500) : 0;
			for (int k = 1 + random.nextInt(3); k > 0; k--) {
				List<String> ids = new ArrayList<>();
				for (String id : List.of("a", "b", "c", "d")) {
					if (random.nextInt(3) > 0) {
						ids.add(id);
					}
				}
				script.list(String.join(" ", ids));
			}
			for (String id : List.of("a", "b", "c", "d")) {
				List<String> all = new ArrayList<>();
				for (int k = 1 + random.nextInt(3); k > 0; k--) {
					all.add(random.nextInt(8) == 0 ? "never"
							: random.nextInt(3) * random.nextInt(400) + " "
									+ Lab.oneOf(random, "alive", "alive", "alive", "dead", "error"));
				}
				script.answers(id, String.join(", ", all));
			}
			script.untilMs = 5000;
			add(to, "random", script);
		}
	}

	private static void add(Vectors to, String group, Script script) {
		Map<String, Object> vector = Json.map("initialDelayMs", script.initialDelayMs, "intervalMs", script.intervalMs,
				"refetchMs", script.refetchMs, "repeat", script.repeat, "updateResultsList", script.update, "lists",
				script.lists, "answers", script.answers, "untilMs", script.untilMs);
		VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
		try {
			run(script, vector, time);
		}
		finally {
			VirtualTimeScheduler.reset();
		}
		to.add(group, vector);
	}

	private static void run(Script script, Map<String, Object> vector, VirtualTimeScheduler time) {
		LoadBalancerProperties properties = new LoadBalancerProperties();
		LoadBalancerProperties.HealthCheck check = properties.getHealthCheck();
		check.setInitialDelay(Duration.ofMillis(script.initialDelayMs));
		check.setInterval(Duration.ofMillis(script.intervalMs));
		check.setRefetchInstances(script.refetchMs != null);
		if (script.refetchMs != null) {
			check.setRefetchInstancesInterval(Duration.ofMillis(script.refetchMs));
		}
		check.setRepeatHealthCheck(script.repeat);
		check.setUpdateResultsList(script.update);
		List<Long> fetches = new ArrayList<>();
		ServiceInstanceListSupplier discovery = new ServiceInstanceListSupplier() {
			@Override
			public String getServiceId() {
				return Lab.SERVICE;
			}

			@Override
			public Flux<List<ServiceInstance>> get() {
				List<String> ids = script.lists.get(Math.min(fetches.size(), script.lists.size() - 1));
				fetches.add(time.now(TimeUnit.MILLISECONDS));
				return ids == null ? Flux.error(new IllegalStateException())
						: Flux.just(ids.stream().map(id -> Lab.instance(id, Map.of())).toList());
			}
		};
		Map<String, Integer> checks = new HashMap<>();
		HealthCheckServiceInstanceListSupplier supplier = new HealthCheckServiceInstanceListSupplier(discovery,
				new OneBalancer(properties, null), (instance, path) -> {
					List<List<Object>> answers = script.answers.get(instance.getInstanceId());
					int nth = checks.merge(instance.getInstanceId(), 1, Integer::sum);
					return answer(answers.get(Math.min(nth, answers.size()) - 1));
				});
		List<Map<String, Object>> emissions = new ArrayList<>();
		Disposable watcher = supplier.get()
				.subscribe(
						list -> emissions.add(Json.map("at", time.now(TimeUnit.MILLISECONDS), "list",
								list.stream().map(ServiceInstance::getInstanceId).toList())),
						thrown -> vector.put("error", thrown.getClass().getSimpleName()));
		time.advanceTimeBy(Duration.ofMillis(script.untilMs));
		watcher.dispose();
		vector.put("fetches", fetches);
		vector.put("emissions", emissions);
	}

	private static Mono<Boolean> answer(List<Object> scripted) {
		int delay = (int) scripted.get(0);
		Mono<Boolean> then = switch ((String) scripted.get(1)) {
			case "alive" -> Mono.just(true);
			case "dead" -> Mono.just(false);
			case "error" -> Mono.error(new IllegalStateException());
			default -> Mono.never();
		};
		return delay == 0 ? then : Mono.delay(Duration.ofMillis(delay)).then(then);
	}

}
