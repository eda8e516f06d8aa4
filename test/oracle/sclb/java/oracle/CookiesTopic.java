package oracle;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.springframework.cloud.client.loadbalancer.RequestData;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;

/** RequestData of a plain HTTP request, as the blocking clients make it. */
final class CookiesTopic implements Topic {

	@Override
	public String name() {
		return "cookies";
	}

	@Override
	public long seed() {
		return 20_240_413;
	}

	@Override
	public String about() {
		return "A plain HTTP request with these values of the header Cookie: cookies are those that suppliers see; "
				+ "found is what asking for the cookie sc-lb-instance-id gives, null if nothing.";
	}

	@Override
	public void write(Vectors to) throws Exception {
		for (String one : new String[] { "a=1", "a=1; b=2", "a=1; sc-lb-instance-id=i2", "sc-lb-instance-id=i2",
				"sc-lb-instance-id=i2; a=1", "k=abc==", "k=", "=v", "=", "==", "k", "", " k = v ", "k=\"quoted\"", "a=1,b=2",
				"a=1; b", "a; b=2", "a=1;b=2;c=3", "k==v", "k=v=w", "SC-LB-Instance-Id=i2", "sc-lb-instance-id=", "k= ",
				"\u00e4=\u00f6", "k=%20", "sc-lb-instance-id=i2;", "sc-lb-instance-id =i2", " sc-lb-instance-id=i2" }) {
			add(to, "one", List.of(one));
		}
		add(to, "many", List.of());
		add(to, "many", List.of("a=1", "b=2"));
		add(to, "many", List.of("a=1", "a=2"));
		add(to, "many", List.of("a=1", "A=2"));
		add(to, "many", List.of("A=1", "sc-lb-instance-id=i1", "SC-LB-INSTANCE-ID=i2"));
		add(to, "many", List.of("k", "a=1", ""));
		Random random = new Random(seed());
		for (int i = 0; i < 40; i++) {
			List<String> headers = new ArrayList<>();
			for (int k = 1 + random.nextInt(3); k > 0; k--) {
				StringBuilder header = new StringBuilder();
				for (int n = random.nextInt(7); n > 0; n--) {
					header.append(Lab.oneOf(random, "a", "sc-lb-instance-id", "i1", "=", "=", "; ", "="));
				}
				headers.add(header.toString());
			}
			add(to, "random", headers);
		}
	}

	private static void add(Vectors to, String group, List<String> headers) throws Exception {
		HttpRequest request = Lab.plainRequest(URI.create("http://svc/"), HttpMethod.GET);
		headers.forEach(value -> request.getHeaders().add("Cookie", value));
		RequestData data = new RequestData(request);
		var vector = Json.map("headers", headers, "cookies", data.getCookies());
		vector.put("found", data.getCookies().getFirst("sc-lb-instance-id"));
		to.add(group, vector);
	}

}
