package oracle;

import java.util.Map;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.LoadBalancerProperties;
import org.springframework.cloud.client.loadbalancer.reactive.ReactiveLoadBalancer;

/** What filters and interceptors ask for balancers and properties: always these. */
final class OneBalancer implements ReactiveLoadBalancer.Factory<ServiceInstance> {

	private final LoadBalancerProperties properties;

	private final ReactiveLoadBalancer<ServiceInstance> balancer;

	OneBalancer(LoadBalancerProperties properties, ReactiveLoadBalancer<ServiceInstance> balancer) {
		this.properties = properties;
		this.balancer = balancer;
	}

	@Override
	public LoadBalancerProperties getProperties(String serviceId) {
		return properties;
	}

	@Override
	public ReactiveLoadBalancer<ServiceInstance> getInstance(String serviceId) {
		return balancer;
	}

	@Override
	public <X> Map<String, X> getInstances(String name, Class<X> type) {
		return Map.of();
	}

	@Override
	public <X> X getInstance(String name, Class<?> type, Class<?>... generics) {
		return null;
	}

}
