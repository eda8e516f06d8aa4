package oracle;

import java.beans.PropertyDescriptor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.boot.env.PropertySourceLoader;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.cloud.client.loadbalancer.LoadBalancerClientsProperties;
import org.springframework.cloud.client.loadbalancer.LoadBalancerDefaultMappingsProviderAutoConfiguration;
import org.springframework.cloud.client.loadbalancer.LoadBalancerProperties;
import org.springframework.cloud.commons.config.CommonsConfigAutoConfiguration;
import org.springframework.cloud.loadbalancer.cache.LoadBalancerCacheProperties;
import org.springframework.cloud.loadbalancer.support.LoadBalancerClientFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.AbstractEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

/** Spring Boot's binding of spring.cloud.loadbalancer.*, with the overlay of the clients' values over the defaults. */
final class BindingTopic implements Topic {

	private static final String PREFIX = "spring.cloud.loadbalancer.";

	@Override
	public String name() {
		return "binding";
	}

	@Override
	public String about() {
		return "A configuration file (format properties, yaml, or env: one KEY=value a line) read by Spring Boot: values are "
				+ "the settings of the client of this name that differ from the defaults (all of them in binding/defaults), "
				+ "durations in ms, classes by name, sets sorted; cache is global; error is the property that cannot be bound.";
	}

	@EnableConfigurationProperties({ LoadBalancerClientsProperties.class, LoadBalancerCacheProperties.class })
	@Import({ CommonsConfigAutoConfiguration.class, LoadBalancerDefaultMappingsProviderAutoConfiguration.class })
	static class Bound {

	}

	@Override
	public void write(Vectors to) {
		to.add("defaults", Json.map("values", flat(new LoadBalancerProperties(), new LoadBalancerCacheProperties())));
		for (String line : new String[] { "hint-header-name=X-H", "hintHeaderName=X-H", "hint_header_name=X-H",
				"HINT-HEADER-NAME=X-H", "hintheadername=X-H", "Hint-HeaderName=X-H", "hint.header.name=X-H",
				"health-check.interval=10s", "healthCheck.interval=10s", "health_check.Interval=10s", "healthcheck.interval=10s",
				"health-check.initialDelay=1s", "xForwarded.enabled=true", "x-forwarded.enabled=true", "xforwarded.enabled=true",
				"stickySession.instanceIdCookieName=c", "sticky-session.instance-id-cookie-name=c",
				"sticky-session.add-service-instance-cookie=true", "call-get-with-request-on-delegates=false",
				"callGetWithRequestOnDelegates=no", "subset.size=7", "subset.instance-id=me", "subset.instanceId=${other}-x" }) {
			add(to, "relaxed", "properties", "svc", PREFIX + line);
		}
		for (String value : new String[] { "35s", "PT5S", "pt5s", "500ms", "500", "0", "-5s", "1m", "2h", "1d", "1us", "1500us",
				"7ns", "PT1H30M", "PT0.5S", "P1D", "10 s", " 10s ", "10S", "1.5s", "10sec", "", "+5s", "1m30s", "PT", "forever",
				"9223372036854775807ms" }) {
			add(to, "duration", "properties", "svc", PREFIX + "health-check.interval=" + value);
		}
		for (String value : new String[] { "true", "TRUE", "on", "yes", "1", "false", "off", "no", "0", "", "y", "n", "maybe", " true " }) {
			add(to, "boolean", "properties", "svc", PREFIX + "health-check.refetch-instances=" + value);
		}
		for (String value : new String[] { "8081", "0x10", "#10", "010", "8_081", " 8081 ", "", "1e3", "8081.0", "2147483648", "-1", "+7" }) {
			add(to, "integer", "properties", "svc", PREFIX + "health-check.port=" + value);
		}
		for (String value : new String[] { "500,503", "500, 503", "503", "", "500,,503", "500,x", "500;503" }) {
			add(to, "collection", "properties", "svc", PREFIX + "retry.retryable-status-codes=" + value);
		}
		add(to, "collection", "properties", "svc", PREFIX + "retry.retryable-status-codes[0]=500",
				PREFIX + "retry.retryable-status-codes[1]=503");
		add(to, "collection", "properties", "svc", PREFIX + "retry.retryable-status-codes[0]=500",
				PREFIX + "retry.retryable-status-codes[2]=503");
		add(to, "collection", "properties", "svc", PREFIX + "retry.retryable-status-codes=500,502",
				PREFIX + "clients.svc.retry.retryable-status-codes=503");
		add(to, "collection", "properties", "svc", PREFIX + "retry.retryable-status-codes=500,502",
				PREFIX + "clients.svc.retry.retryable-status-codes=");
		add(to, "collection", "properties", "svc", PREFIX + "retry.retryable-exceptions=java.net.ConnectException");
		add(to, "collection", "properties", "svc",
				PREFIX + "retry.retryable-exceptions=java.net.ConnectException,java.util.concurrent.TimeoutException",
				PREFIX + "clients.svc.retry.retryable-exceptions[0]=java.net.SocketException");
		add(to, "collection", "properties", "svc", PREFIX + "retry.retryable-exceptions=no.such.Exception");
		for (String client : new String[] { "svc", "other", "SVC", "my-svc", "mySvc" }) {
			add(to, "client", "properties", client, PREFIX + "health-check.initial-delay=1s",
					PREFIX + "clients.svc.health-check.interval=30s", PREFIX + "clients.my-svc.health-check.interval=31s");
			add(to, "client", "properties", client, PREFIX + "hint.default=a", PREFIX + "hint.svc=b",
					PREFIX + "clients.svc.hint.default=c", PREFIX + "clients.my-svc.hint.x=d");
		}
		add(to, "overlay", "properties", "svc", PREFIX + "retry.enabled=false", PREFIX + "clients.svc.retry.enabled=true",
				PREFIX + "clients.svc.retry.max-retries-on-next-service-instance=3");
		add(to, "overlay", "properties", "svc", PREFIX + "retry.max-retries-on-same-service-instance=2",
				PREFIX + "clients.svc.subset.size=3");
		add(to, "overlay", "properties", "svc", PREFIX + "retry.backoff.enabled=true", PREFIX + "retry.backoff.min-backoff=10ms",
				PREFIX + "clients.svc.retry.backoff.min-backoff=20ms", PREFIX + "clients.svc.retry.backoff.jitter=0.1");
		add(to, "overlay", "properties", "svc", PREFIX + "health-check.path.default=/a", PREFIX + "health-check.path.svc=/b",
				PREFIX + "clients.svc.health-check.path.svc=/c", PREFIX + "clients.svc.health-check.path.x=");
		add(to, "overlay", "properties", "svc", PREFIX + "cache.ttl=5s", PREFIX + "cache.capacity=10",
				PREFIX + "cache.caffeine.spec=expireAfterWrite=1s", PREFIX + "clients.svc.cache.ttl=9s");
		add(to, "overlay", "properties", "svc", PREFIX + "clients[svc].subset.size=3", PREFIX + "clients[a.b].subset.size=4");
		add(to, "overlay", "properties", "a.b", PREFIX + "clients[svc].subset.size=3", PREFIX + "clients[a.b].subset.size=4");
		add(to, "overlay", "properties", "a.b", PREFIX + "clients.a.b.subset.size=4");
		add(to, "overlay", "properties", "svc", PREFIX + "clients.svc.hintHeaderName=X-C", PREFIX + "hint-header-name=X-D");
		add(to, "map", "properties", "svc", PREFIX + "hint.MySvc=a", PREFIX + "hint.mysvc=b", PREFIX + "hint[a.b/c]=d");
		add(to, "map", "properties", "svc", PREFIX + "hint.Default=a", PREFIX + "health-check.path.My_Svc=/p");
		add(to, "placeholder", "properties", "svc", "base=7", PREFIX + "subset.size=${base}",
				PREFIX + "hint-header-name=X-${base}${none:!}");
		add(to, "placeholder", "properties", "svc", PREFIX + "hint-header-name=X-${none}");
		add(to, "unknown", "properties", "svc", PREFIX + "no-such=1", PREFIX + "health-check.nothing=2", "other.key=3");
		for (String value : new String[] { "0.5", "1", "0", "1.5", "-1", ".25", "1e-1", "x", "NaN" }) {
			add(to, "double", "properties", "svc", PREFIX + "retry.backoff.jitter=" + value);
		}
		String yaml = "spring:\n  cloud:\n    loadbalancer:\n";
		add(to, "yaml", "yaml", "svc", yaml + "      hint-header-name: X-Y\n      healthCheck:\n        interval: 10s\n"
				+ "        path:\n          default: /health\n      clients:\n        svc:\n          health-check:\n"
				+ "            initial-delay: PT2S\n            path: {svc: /mine}\n");
		add(to, "yaml", "yaml", "svc", yaml + "      retry:\n        retryable-status-codes: [500, 503]\n      clients:\n"
				+ "        svc:\n          retry:\n            retryable-status-codes:\n            - 429\n");
		add(to, "yaml", "yaml", "svc", yaml + "      retry: {enabled: off, retry-on-all-operations: yes}\n      subset: {size: 0o17}\n");
		add(to, "yaml", "yaml", "svc", yaml + "      subset: {size: 0x1F, instance-id: 012}\n      hint: {default: no, svc: 1.0}\n");
		add(to, "yaml", "yaml", "svc", yaml + "      health-check: {interval: 25, port: ~, refetch-instances: \"true\"}\n");
		add(to, "yaml", "yaml", "svc", "spring.cloud.loadbalancer:\n  subset.size: 4\n  clients.svc.subset.size: 5\n");
		add(to, "yaml", "yaml", "a.b", yaml + "      clients:\n        '[a.b]': {subset: {size: 6}}\n        a.b: {subset: {size: 7}}\n");
		add(to, "yaml", "yaml", "svc", yaml + "      hint: {}\n      health-check:\n        path: {svc: ''}\n");
		add(to, "yaml", "yaml", "svc", yaml + "      subset: {size: 1}\n---\n" + yaml + "      subset: {instance-id: two}\n");
		add(to, "env", "env", "svc", "SPRING_CLOUD_LOADBALANCER_SUBSET_SIZE=9", "SPRING_CLOUD_LOADBALANCER_HINTHEADERNAME=X-E",
				"SPRING_CLOUD_LOADBALANCER_HEALTHCHECK_INTERVAL=3s");
		add(to, "env", "env", "svc", "SPRING_CLOUD_LOADBALANCER_HEALTH_CHECK_INTERVAL=3s",
				"SPRING_CLOUD_LOADBALANCER_HINT_HEADER_NAME=X-E");
		add(to, "env", "env", "svc", "SPRING_CLOUD_LOADBALANCER_CLIENTS_SVC_SUBSET_SIZE=9",
				"SPRING_CLOUD_LOADBALANCER_RETRY_RETRYABLESTATUSCODES_0_=500", "SPRING_CLOUD_LOADBALANCER_HINT_DEFAULT=h");
		add(to, "env", "env", "my-svc", "SPRING_CLOUD_LOADBALANCER_CLIENTS_MYSVC_SUBSET_SIZE=9",
				"SPRING_CLOUD_LOADBALANCER_CLIENTS_MY_SVC_SUBSET_SIZE=8");
		for (String line : new String[] { "api-version.header=X-V", "api-version.default=1", "api-version.default-version=1",
				"api-version.query-parameter=v", "api-version.path-segment=0", "api-version.required=true",
				"api-version.fallback-to-available-instances=true", "api-version.media-type-parameters[application/json]=v",
				"api-version.media-type-parameters.application/json=v" }) {
			add(to, "api-version", "properties", "svc", PREFIX + line);
			add(to, "api-version", "properties", "svc", PREFIX + "clients.svc." + line);
		}
		add(to, "stats", "properties", "svc", PREFIX + "stats.include-path=false",
				PREFIX + "clients.svc.stats.include-path=true");
		add(to, "stats", "properties", "svc", PREFIX + "stats.include-path=false");
	}

	private static void add(Vectors to, String group, String format, String client, String... lines) {
		String text = String.join("\n", lines);
		Map<String, Object> vector = Json.map("format", format, "text", text, "client", client);
		try {
			Map<String, Object> values = values(format, text, client);
			Map<String, Object> defaults = flat(new LoadBalancerProperties(), new LoadBalancerCacheProperties());
			values.entrySet().removeIf(entry -> Objects.equals(entry.getValue(), defaults.get(entry.getKey())));
			vector.put("values", values);
		}
		catch (Exception thrown) {
			vector.put("error", culprit(thrown));
		}
		to.add(group, vector);
	}

	private static String culprit(Throwable thrown) {
		for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
			if (cause instanceof BindException failed) {
				return failed.getName().toString();
			}
		}
		return thrown.getClass().getSimpleName();
	}

	private static Map<String, Object> values(String format, String text, String client) throws Exception {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			AbstractEnvironment bare = new AbstractEnvironment() {
			};
			for (PropertySource<?> source : sources(format, text)) {
				bare.getPropertySources().addLast(source);
			}
			context.setEnvironment(bare);
			context.register(Bound.class);
			context.refresh();
			LoadBalancerProperties effective = new LoadBalancerClientFactory(
					context.getBean(LoadBalancerClientsProperties.class)).getProperties(client);
			return flat(effective, context.getBean(LoadBalancerCacheProperties.class));
		}
	}

	private static List<PropertySource<?>> sources(String format, String text) throws Exception {
		if (format.equals("env")) {
			Map<String, Object> variables = new LinkedHashMap<>();
			text.lines().forEach(line -> variables.put(line.split("=", 2)[0], line.split("=", 2)[1]));
			return List.of(new SystemEnvironmentPropertySource("systemEnvironment", variables));
		}
		PropertySourceLoader loader = format.equals("yaml") ? new YamlPropertySourceLoader()
				: new PropertiesPropertySourceLoader();
		return loader.load("file", new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)));
	}

	private static Map<String, Object> flat(LoadBalancerProperties properties, LoadBalancerCacheProperties cache) {
		Map<String, Object> flat = new TreeMap<>();
		flatten(flat, "", properties);
		flatten(flat, "cache.", cache);
		return flat;
	}

	/** Every readable property of the bean and of the beans nested in it. */
	private static void flatten(Map<String, Object> flat, String prefix, Object bean) {
		for (PropertyDescriptor property : BeanUtils.getPropertyDescriptors(bean.getClass())) {
			if (property.getReadMethod() == null || List.of("class", "clients").contains(property.getName())) {
				continue;
			}
			String key = prefix + property.getName();
			try {
				Object value = property.getReadMethod().invoke(bean);
				if (value != null && value.getClass().getName().contains("LoadBalancer")) {
					flatten(flat, key + ".", value);
				}
				else {
					flat.put(key, plain(value));
				}
			}
			catch (ReflectiveOperationException impossible) {
				throw new IllegalStateException(impossible);
			}
		}
	}

	private static Object plain(Object value) {
		if (value instanceof Duration duration) {
			long ms = duration.toMillis();
			return ms > 1L << 53 ? String.valueOf(ms) : Duration.ofMillis(ms).equals(duration) ? ms : duration.toNanos() / 1e6;
		}
		if (value instanceof Map<?, ?> map) {
			Map<String, Object> sorted = new TreeMap<>();
			map.forEach((key, of) -> sorted.put(key.toString(), of));
			return sorted;
		}
		if (value instanceof Collection<?> all) {
			return all.stream().map(BindingTopic::plain).sorted(Comparator.comparing(String::valueOf)).toList();
		}
		if (value instanceof Double number && number.isNaN()) {
			return "NaN";
		}
		return value instanceof Class<?> type ? type.getName()
				: value == null || value instanceof Number || value instanceof Boolean ? value : (Object) value.toString();
	}

}
