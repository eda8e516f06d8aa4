package oracle;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.springframework.cloud.client.loadbalancer.LoadBalancerClientsProperties;
import org.springframework.cloud.loadbalancer.cache.DefaultLoadBalancerCacheManager;
import org.springframework.cloud.loadbalancer.cache.LoadBalancerCacheManager;
import org.springframework.cloud.loadbalancer.cache.LoadBalancerCacheProperties;
import org.springframework.cloud.loadbalancer.config.LoadBalancerZoneConfig;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplier;
import org.springframework.cloud.loadbalancer.core.ServiceInstanceListSupplierBuilder;
import org.springframework.cloud.loadbalancer.support.LoadBalancerClientFactory;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.AbstractEnvironment;
import org.springframework.core.env.MapPropertySource;

/** A load-balancer client: its properties, and chains of suppliers made of them by the real builder. */
final class Client {

	final LoadBalancerClientsProperties properties = new LoadBalancerClientsProperties();

	final LoadBalancerClientFactory factory = new LoadBalancerClientFactory(properties);

	/** What `${...}` and default ids are read from: nothing of this machine. */
	final Map<String, Object> environment = new LinkedHashMap<>();

	String zone;

	/** The chain over the base, innermost first. */
	ServiceInstanceListSupplier chain(ServiceInstanceListSupplier base, List<String> suppliers) {
		ServiceInstanceListSupplierBuilder builder = ServiceInstanceListSupplier.builder().withBase(base);
		for (String supplier : suppliers) {
			switch (supplier) {
				case "zone-preference" -> builder.withZonePreference();
				case "hint" -> builder.withHints();
				case "weighted" -> builder.withWeighted();
				case "subset" -> builder.withSubset();
				case "request-based-sticky-session" -> builder.withRequestBasedStickySession();
				case "same-instance-preference" -> builder.withSameInstancePreference();
				case "retry-aware" -> builder.withRetryAwareness();
				case "caching" -> builder.withCaching();
				default -> throw new IllegalArgumentException(supplier);
			}
		}
		return build(builder);
	}

	ServiceInstanceListSupplier build(ServiceInstanceListSupplierBuilder builder) {
		try (GenericApplicationContext context = context()) {
			return builder.build(context);
		}
	}

	private GenericApplicationContext context() {
		GenericApplicationContext context = new GenericApplicationContext();
		AbstractEnvironment bare = new AbstractEnvironment() {
		};
		bare.getPropertySources().addFirst(new MapPropertySource("oracle", environment));
		context.setEnvironment(bare);
		context.registerBean(LoadBalancerClientFactory.class, () -> factory);
		context.registerBean(LoadBalancerZoneConfig.class, () -> new LoadBalancerZoneConfig(zone));
		context.registerBean(LoadBalancerCacheManager.class, () -> {
			LoadBalancerCacheProperties forEver = new LoadBalancerCacheProperties();
			forEver.setTtl(Duration.ZERO);
			return new DefaultLoadBalancerCacheManager(forEver);
		});
		context.refresh();
		return context;
	}

}
