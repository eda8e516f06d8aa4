package oracle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.DefaultRequest;
import org.springframework.cloud.client.loadbalancer.HintRequestContext;
import org.springframework.cloud.client.loadbalancer.Request;
import org.springframework.util.LinkedMultiValueMap;

/** RequestBasedStickySessionServiceInstanceListSupplier; the cookies are those of RequestData, already parsed. */
final class StickyTopic implements Topic {

	@Override
	public String name() {
		return "sticky";
	}

	@Override
	public long seed() {
		return 20_240_405;
	}

	@Override
	public String about() {
		return "Instances of these ids, supplier request-based-sticky-session, cookie name cookieName (absent: the "
				+ "default sc-lb-instance-id), a request with these cookies (lists of values; absent: a request without "
				+ "HTTP data): candidates are whom the policy gets, as places.";
	}

	@Override
	public void write(Vectors to) {
		List<String> ids = List.of("a", "b", "c");
		String name = "sc-lb-instance-id";
		add(to, "cookie", null, ids, Map.of(name, List.of("b")));
		add(to, "cookie", null, ids, Map.of(name, List.of("x")));
		add(to, "cookie", null, ids, Map.of(name, List.of("B")));
		add(to, "cookie", null, ids, Map.of(name, List.of("")));
		add(to, "cookie", null, ids, Map.of(name, List.of(" b")));
		add(to, "cookie", null, ids, Map.of(name, List.of("x", "b")));
		add(to, "cookie", null, ids, Map.of(name, List.of("c", "b")));
		add(to, "cookie", null, ids, Map.of("SC-LB-Instance-Id", List.of("b")));
		add(to, "cookie", null, ids, Map.of("other", List.of("b")));
		add(to, "cookie", null, ids, Map.of());
		add(to, "cookie", null, ids, null);
		add(to, "cookie", null, List.of(), Map.of(name, List.of("b")));
		add(to, "cookie", null, List.of("b"), Map.of(name, List.of("c")));
		add(to, "cookie", null, List.of("", "b"), Map.of(name, List.of("")));
		add(to, "cookie", null, List.of("\u00e4", "b"), Map.of(name, List.of("\u00e4")));
		add(to, "cookie", "mine", ids, Map.of("mine", List.of("c")));
		add(to, "cookie", "mine", ids, Map.of(name, List.of("c")));
		add(to, "cookie", "", ids, Map.of("", List.of("c")));
		Random random = new Random(seed());
		for (int i = 0; i < 40; i++) {
			List<String> some = new ArrayList<>();
			for (int k = random.nextInt(7); k > 0; k--) {
				some.add("n" + k);
			}
			Map<String, List<String>> cookies = new LinkedHashMap<>();
			cookies.put(Lab.oneOf(random, "session", "mine", name), Lab.some(random, 1, "n1", "n2", "n3", "n9"));
			cookies.put(Lab.oneOf(random, "lang", "mine", name), Lab.some(random, 1 + random.nextInt(2), "n1", "n2", "n4"));
			add(to, "random", Lab.oneOf(random, null, null, "mine"), some, cookies);
		}
	}

	private static void add(Vectors to, String group, String cookieName, List<String> ids,
			Map<String, List<String>> cookies) {
		List<ServiceInstance> instances = ids.stream().map(id -> Lab.instance(id, Map.of())).toList();
		Client client = new Client();
		if (cookieName != null) {
			client.properties.getStickySession().setInstanceIdCookieName(cookieName);
		}
		Request<?> request = cookies == null ? new DefaultRequest<>(new HintRequestContext())
				: Lab.request(Lab.data(Map.of(), new LinkedMultiValueMap<>(cookies)));
		to.add(group,
				Json.map("cookieName", cookieName, "ids", ids, "cookies", cookies, "candidates",
						Lab.candidates(client.chain(new Lab.Base(instances), List.of("request-based-sticky-session")),
								request, instances)));
	}

}
