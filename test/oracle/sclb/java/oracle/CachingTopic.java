package oracle;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import com.github.benmanes.caffeine.cache.Caffeine;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

import org.springframework.cache.CacheManager;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.loadbalancer.cache.CaffeineBasedLoadBalancerCacheManager;
import org.springframework.cloud.loadbalancer.cache.DefaultLoadBalancerCacheManager;
import org.springframework.cloud.loadbalancer.cache.LoadBalancerCacheProperties;
import org.springframework.cloud.loadbalancer.core.CachingServiceInstanceListSupplier;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;

/**
 * CachingServiceInstanceListSupplier over the Caffeine cache manager, whose clock is ours, or over the default one,
 * whose clock is the machine's: hence no time passes there.
 */
final class CachingTopic implements Topic {

	@Override
	public String name() {
		return "caching";
	}

	@Override
	public long seed() {
		return 20_240_411;
	}

	@Override
	public String about() {
		return "A cached list, cache.ttl ttlMs or cache.caffeine.spec spec: at each step, gets readers (absent: 1) ask at "
				+ "the time at (ms) at once, before discovery, which then gives list (absent: as before; null: it fails), "
				+ "answers; served is what the first of them gets (error: what it fails with), fetches how often discovery "
				+ "was asked in all so far; cache default is the built-in one without Caffeine.";
	}

	@Override
	public void write(Vectors to) throws Exception {
		add(to, "ttl", 3000, null, "0 a b", "1", "2999", "4000 c", "4001", "6999", "7000 d", "7001");
		add(to, "ttl", 35_000, null, "0 a", "34999 b", "35000", "35001 c", "69999", "70000");
		add(to, "ttl", 1, null, "0 a", "0 b", "1", "1 c", "2");
		add(to, "ttl", 0, null, "0 a", "0 b", "0", "1");
		add(to, "empty", 3000, null, "0 -", "1", "2 a", "3 -", "3002", "3003", "3004 b");
		add(to, "empty", 3000, null, "0 a", "3000 -", "4001", "5002 a", "5003 -", "8001", "8002");
		// Caffeine 3.2, of the newer line, counts from the first of two writes within a second.
		add(to, "rewrite", 3000, null, "0 -", "1 a", "2999", "3000 b", "3001", "5999", "6000");
		add(to, "error", 3000, null, "0 !", "1", "2 a", "3 !", "3002", "3003 b", "3004 !", "6003");
		add(to, "error", 3000, null, "0 a", "2999 !", "3000", "3001 -", "3002 !");
		add(to, "concurrent", 3000, null, "0*3 a", "1*2", "3000*2 b", "3001*4", "9000*5 -", "9001*2");
		add(to, "spec", 3000, "expireAfterAccess=3s", "0 a", "2000 b", "4000", "6000", "8999", "11999", "12000 c");
		add(to, "spec", 3000, "expireAfterWrite=5s", "0 a", "3000 b", "4999", "5000", "9999", "10000 c");
		add(to, "spec", 3000, "maximumSize=10", "0 a", "3000 b", "999999");
		add(to, "default", 0, null, "0 a", "0 b", "0 -");
		add(to, "default", 0, null, "0 -", "0 a", "0 b", "0 !");
		add(to, "default", 3_600_000, null, "0*2 a", "0*2 b", "0");
		Random random = new Random(seed());
		for (int i = 0; i < 40; i++) {
			int ttl = Lab.oneOf(random, 100, 1000, 35_000);
			String[] steps = new String[12];
			long at = 0;
			for (int k = 0; k < steps.length; k++) {
				at += random.nextInt(4) == 0 ? ttl : random.nextInt(ttl);
				steps[k] = at + (random.nextInt(6) == 0 ? "*2" : "")
						+ (k > 0 && random.nextInt(3) > 0 ? "" : Lab.oneOf(random, " a", " b", " a b c", " -", " !"));
			}
			add(to, "random", ttl, null, steps);
		}
	}

	/** "AT*GETS LIST": "-" is an empty list, "!" a failure. */
	private static void add(Vectors to, String group, int ttl, String spec, String... steps) throws Exception {
		long[] now = { 0 };
		int[] fetches = { 0 };
		List<Sinks.One<List<ServiceInstance>>> asked = new ArrayList<>();
		ServiceInstanceListSupplier discovery = new ServiceInstanceListSupplier() {
			@Override
			public String getServiceId() {
				return Lab.SERVICE;
			}

			@Override
			public Flux<List<ServiceInstance>> get() {
				return Flux.defer(() -> {
					fetches[0]++;
					Sinks.One<List<ServiceInstance>> answer = Sinks.one();
					asked.add(answer);
					return answer.asMono();
				});
			}
		};
		ServiceInstanceListSupplier caching = new CachingServiceInstanceListSupplier(discovery,
				group.equals("default") ? builtIn(ttl) : caffeine(ttl, spec, now));
		List<Map<String, Object>> walk = new ArrayList<>();
		String upstream = "";
		for (String step : steps) {
			String[] parts = step.split(" ", 2);
			String[] times = parts[0].split("\\*");
			now[0] = Long.parseLong(times[0]);
			upstream = parts.length > 1 ? parts[1] : upstream;
			List<String> list = upstream.equals("!") ? null : upstream.equals("-") ? List.of() : List.of(upstream.split(" "));
			Map<String, Object> done = Json.map("at", now[0], "gets", times.length > 1 ? Integer.valueOf(times[1]) : null);
			if (parts.length > 1) {
				done.put("list", list);
			}
			int gets = times.length > 1 ? Integer.parseInt(times[1]) : 1;
			List<Object> served = new ArrayList<>();
			for (int k = 0; k < gets; k++) {
				caching.get().subscribe(instances -> served.add(instances.stream().map(ServiceInstance::getInstanceId).toList()),
						thrown -> served.add(Exceptions.unwrap(thrown)));
			}
			for (Sinks.One<List<ServiceInstance>> answer : asked) {
				if (list == null) {
					answer.tryEmitError(new IllegalStateException());
				}
				else {
					answer.tryEmitValue(list.stream().map(id -> Lab.instance(id, Map.of())).toList());
				}
			}
			asked.clear();
			Object first = served.get(0);
			done.put(first instanceof Throwable ? "error" : "served",
					first instanceof Throwable thrown ? thrown.getClass().getSimpleName() : first);
			done.put("fetches", fetches[0]);
			walk.add(done);
		}
		to.add(group, Json.map("cache", group.equals("default") ? "default" : "caffeine", "ttlMs", ttl, "spec", spec, "steps",
				walk));
	}

	private static LoadBalancerCacheProperties properties(int ttl) {
		LoadBalancerCacheProperties properties = new LoadBalancerCacheProperties();
		properties.setTtl(Duration.ofMillis(ttl));
		return properties;
	}

	private static CacheManager builtIn(int ttl) {
		return new DefaultLoadBalancerCacheManager(properties(ttl));
	}

	/** The manager's own Caffeine builder, told another clock. */
	@SuppressWarnings("unchecked")
	private static CacheManager caffeine(int ttl, String spec, long[] now) throws Exception {
		LoadBalancerCacheProperties properties = properties(ttl);
		if (spec != null) {
			properties.getCaffeine().setSpec(spec);
		}
		CaffeineCacheManager manager = new CaffeineBasedLoadBalancerCacheManager(properties);
		Field field = CaffeineCacheManager.class.getDeclaredField("cacheBuilder");
		field.setAccessible(true);
		((Caffeine<Object, Object>) field.get(manager)).ticker(() -> TimeUnit.MILLISECONDS.toNanos(now[0]))
				.executor(Runnable::run);
		manager.setCacheNames(List.of(CachingServiceInstanceListSupplier.SERVICE_INSTANCE_CACHE_NAME));
		return manager;
	}

}
