package oracle;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.loadbalancer.LoadBalancerUriTools;

/** LoadBalancerUriTools.reconstructURI, and the URI that an instance has of itself. */
final class UriTopic implements Topic {

	private static final List<String> ORIGINALS = List.of("http://svc", "http://svc/", "http://svc/a/b?x=1&y=2#frag",
			"https://svc/a", "ws://svc/socket", "wss://svc/socket", "ftp://svc/a", "HTTP://svc/a", "//svc/a", "/a/b?x=1",
			"http://svc:8080/a", "http://svc:0/a", "http://user:pass@svc/a", "http://u%40x@svc/a",
			"http://svc/path%40%21%242?query=val%40%21%242#frag%40%21%242", "http://svc/a%20b?q=a%20b",
			"http://svc/?m=%3CHello=World@x%3E", "http://svc/?foo=%7C", "http://svc/?q=a+b", "http://svc/?q=a%2Bb",
			"http://svc/a+b", "http://svc/a%2Fb/c", "http://svc/a%2fb", "http://svc/%E2%82%AC?q=%E2%82%AC",
			"http://svc/\u20ac?q=\u20ac", "http://svc/\u20ac%20?q=\u20ac", "http://svc/a;p=1/b", "http://svc/?", "http://svc/a?#",
			"http://svc/a#", "http://svc/?q=a=b", "http://svc/?q=%20a=b", "http://svc/?a[]=1", "http://svc/?a%5B%5D=1",
			"http://svc/a//b/./c/../d", "http://svc//a", "http://svc/?q=%25", "http://svc/%25%32%35", "http://svc/?q=1%2C2,3",
			"http://svc/?q=%3A/?", "http://svc/?a=1&&b=", "http://svc/'()!*~$&,:@", "http://svc/?q='()!*~$,:@/?",
			"http://svc/?q=%27'", "http://svc/a#%23x", "http://svc/a?x=%26#a?b", "http://svc/%zz".replace("%zz", "%7e"),
			"http://[::1]:80/a", "http://target:8080/a", "https://target:8080/a", "http://TARGET:8080/a",
			"http://target/a", "http://my_svc/a", "http://svc.1/a", "mailto:a@svc", "http://svc/%F0%9F%98%80",
			"http://svc/\ud83d\ude00", "http://svc/?q=%7B%22a%22%3A1%7D", "http://svc/a%3Bb;c=%3B", "http://svc/?q=%5C");

	@Override
	public String name() {
		return "uri";
	}

	@Override
	public long seed() {
		return 20_240_410;
	}

	@Override
	public String about() {
		return "reconstructURI of the original for this instance (scheme absent: it has none of its own; secure absent: false) gives result; "
				+ "vectors without an original: uri is the URI that the instance has of itself; error is what is thrown.";
	}

	@Override
	public void write(Vectors to) {
		List<Map<String, Object>> targets = List.of(target("target", 8080, false, null), target("target", 8443, true, null));
		for (String original : ORIGINALS) {
			for (Map<String, Object> target : targets) {
				add(to, "original", target, original);
			}
		}
		for (Integer port : List.of(-2, -1, 0, 1, 80, 443, 65535, 65536)) {
			for (boolean secure : new boolean[] { false, true }) {
				for (String original : List.of("http://svc/a", "https://svc/a", "ws://svc/a", "wss://svc/a", "//svc/a")) {
					add(to, "port", target("target", port, secure, null), original);
				}
				own(to, target("target", port, secure, null));
			}
		}
		for (String scheme : new String[] { "http", "https", "ws", "wss", "HTTPS", "lb", "" }) {
			for (Integer port : List.of(-1, 0, 8080)) {
				for (String original : List.of("http://svc/a?q=%20", "https://svc/a", "ws://svc/a", "http://target:8080/a")) {
					add(to, "scheme", target("target", port, false, scheme), original);
				}
				add(to, "scheme", target("target", port, true, scheme), "http://svc/a");
			}
		}
		for (String host : new String[] { "10.0.0.1", "::1", "[::1]", "fe80::1%25eth0", "my_host", "Host.Example", "h\u00e4st",
				"a b", "", "host:99", "1.2.3" }) {
			add(to, "host", target(host, 8080, false, null), "http://svc/a");
			add(to, "host", target(host, 8080, true, null), "http://u@svc/a?q=%20#f");
			own(to, target(host, 8080, false, null));
			own(to, target(host, 0, true, null));
		}
		Random random = new Random(seed());
		for (int i = 0; i < 150; i++) {
			StringBuilder original = new StringBuilder(Lab.oneOf(random, "http", "http", "https", "ws", "wss"))
					.append("://").append(Lab.oneOf(random, "", "", "u@", "u:p@")).append("svc")
					.append(Lab.oneOf(random, "", "", ":80", ":8080"));
			part(random, original, "/", "a", "%20", "%2F", "+", "=", "@", ":", ";x=1", "/", "%41", "\u00e9", "%C3%A9", ".", "~");
			part(random, original, "?", "q=1", "&", "%20", "+", "%3D", "a=b=c", "/", "?", "@", "%26", "\u00e9", "%C3%A9", "'");
			part(random, original, "#", "f", "%20", "/", "?", "=", "@", "\u00e9");
			add(to, "random",
					target("target", Lab.oneOf(random, 8080, 8080, 80, 0, -1), random.nextInt(3) == 0,
							Lab.oneOf(random, null, null, null, "http", "https")), original.toString());
		}
	}

	private static void part(Random random, StringBuilder to, String mark, String... pieces) {
		int count = random.nextInt(6);
		if (count > 0) {
			to.append(mark);
		}
		for (; count > 0; count--) {
			to.append(Lab.oneOf(random, pieces));
		}
	}

	private static Map<String, Object> target(String host, int port, boolean secure, String scheme) {
		return Json.map("host", host, "port", port, "secure", secure ? true : null, "scheme", scheme);
	}

	private static ServiceInstance instance(Map<String, Object> target) {
		return new DefaultServiceInstance("i", Lab.SERVICE, (String) target.get("host"), (int) target.get("port"),
				target.containsKey("secure")) {
			@Override
			public String getScheme() {
				return (String) target.get("scheme");
			}
		};
	}

	private static void add(Vectors to, String group, Map<String, Object> target, String original) {
		Map<String, Object> vector = Json.map("instance", target, "original", original);
		Lab.put(vector, "result", () -> LoadBalancerUriTools.reconstructURI(instance(target), URI.create(original)).toString());
		to.add(group, vector);
	}

	private static void own(Vectors to, Map<String, Object> target) {
		Map<String, Object> vector = Json.map("instance", target);
		Lab.put(vector, "uri", () -> instance(target).getUri().toString());
		to.add("own", vector);
	}

}
