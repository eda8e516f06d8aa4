package oracle;

import java.util.List;
import java.util.stream.Stream;

import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;

/** Spring Cloud LoadBalancer. */
final class Driven {

	static final List<Topic> TOPICS = Stream
		.concat(Stream.of(new RoundRobinTopic(), new WeightedTopic(), new SubsetTopic(), new ZoneTopic(),
				new HintTopic(), new StickyTopic(), new SameInstanceTopic(), new RetryAwareTopic(), new ChainTopic(),
				new UriTopic(), new CachingTopic(), new HealthCheckTopic(), new HealthUrlTopic(), new BindingTopic(),
				new RetryTopic(), new RetryPolicyTopic(), new CookiesTopic(), new TransformersTopic()),
				Line.TOPICS.stream())
		.toList();

	private Driven() {
	}

	static String version() {
		return RoundRobinLoadBalancer.class.getPackage().getImplementationVersion();
	}

}
