package oracle;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.Map;

import com.netflix.client.ClientException;
import com.netflix.client.DefaultLoadBalancerRetryHandler;
import com.netflix.client.RequestSpecificRetryHandler;
import com.netflix.client.RetryHandler;
import com.netflix.client.http.UnexpectedHttpResponseException;
import com.netflix.niws.client.http.HttpClientLoadBalancerErrorHandler;
import com.netflix.ribbon.transport.netty.http.NettyHttpLoadBalancerErrorHandler;
import io.netty.handler.timeout.ReadTimeoutException;
import io.reactivex.netty.client.PoolExhaustedException;
import org.apache.http.ConnectionClosedException;
import org.apache.http.HttpHost;
import org.apache.http.NoHttpResponseException;
import org.apache.http.conn.ConnectTimeoutException;
import org.apache.http.conn.ConnectionPoolTimeoutException;
import org.apache.http.conn.HttpHostConnectException;

/** The RetryHandlers' verdicts on what was thrown. */
final class RetryHandlerTopic implements Topic {

	@Override
	public String name() {
		return "retry-handler";
	}

	@Override
	public String about() {
		return "A handler asked about an exception (ClientException with its ErrorType, 503 and 500 of "
				+ "UnexpectedHttpResponseException; A<B>: caused by): retriable on the same and on the next server, and "
				+ "does it trip the circuit. Default, HttpClient and Netty: retryEnabled; RequestSpecific over each of "
				+ "them: okToRetryOnConnectErrors, okToRetryOnAllErrors.";
	}

	@Override
	public void write(Vectors to) {
		for (boolean enabled : new boolean[] { false, true }) {
			Map<String, RetryHandler> handlers = new LinkedHashMap<>();
			handlers.put("Default", new DefaultLoadBalancerRetryHandler(1, 2, enabled));
			handlers.put("HttpClient", new HttpClientLoadBalancerErrorHandler(1, 2, enabled));
			handlers.put("Netty", new NettyHttpLoadBalancerErrorHandler(1, 2, enabled));
			handlers.forEach((name, handler) -> thrown().forEach((error, exception) -> to.add(name.toLowerCase(),
					Json.map("handler", name, "retryEnabled", enabled, "error", error, "same",
							handler.isRetriableException(exception, true), "next",
							handler.isRetriableException(exception, false), "trips",
							handler.isCircuitTrippingException(exception)))));
		}
		for (int flags = 0; flags < 4; flags++) {
			boolean onConnect = (flags & 1) > 0;
			boolean onAll = (flags & 2) > 0;
			RetryHandler handler = new RequestSpecificRetryHandler(onConnect, onAll,
					new HttpClientLoadBalancerErrorHandler(1, 2, false), null);
			thrown().forEach((error, exception) -> to.add("request-specific",
					Json.map("handler", "RequestSpecific<HttpClient>", "okToRetryOnConnectErrors", onConnect,
							"okToRetryOnAllErrors", onAll, "error", error, "same",
							handler.isRetriableException(exception, true), "next",
							handler.isRetriableException(exception, false), "trips",
							handler.isCircuitTrippingException(exception))));
		}
		for (Integer same : new Integer[] { null, 0, 3, -1 }) {
			for (Integer next : new Integer[] { null, 0, 5 }) {
				Map<String, Object> properties = Json.map("svc.ribbon.MaxAutoRetries", same,
						"svc.ribbon.MaxAutoRetriesNextServer", next);
				RetryHandler handler = new DefaultLoadBalancerRetryHandler(new Settings(properties));
				to.add("retries", Json.map("properties", properties, "maxSame", handler.getMaxRetriesOnSameServer(),
						"maxNext", handler.getMaxRetriesOnNextServer()));
			}
		}
	}

	private static Map<String, Throwable> thrown() {
		Map<String, Throwable> thrown = new LinkedHashMap<>();
		HttpHost host = new HttpHost("i0", 8080);
		for (Throwable one : new Throwable[] { new ConnectException(), new NoRouteToHostException(), new BindException(),
				new SocketException(), new SocketTimeoutException(), new UnknownHostException(), new IOException(),
				new RuntimeException(), new Exception(), new Error(), new ConnectTimeoutException(),
				new NoHttpResponseException(""), new ConnectionPoolTimeoutException(), new ConnectionClosedException(""),
				new HttpHostConnectException(host, new ConnectException()), ReadTimeoutException.INSTANCE,
				new io.netty.channel.ConnectTimeoutException(), new PoolExhaustedException("") }) {
			boolean isNettys = one instanceof io.netty.channel.ConnectTimeoutException;
			thrown.put((isNettys ? "netty." : "") + one.getClass().getSimpleName(), one);
		}
		for (ClientException.ErrorType type : ClientException.ErrorType.values()) {
			thrown.put("ClientException " + type, new ClientException(type));
		}
		for (int status : new int[] { 500, 503 }) {
			thrown.put("UnexpectedHttpResponseException " + status, new UnexpectedHttpResponseException(status, ""));
		}
		thrown.put("RuntimeException<ConnectException>", new RuntimeException(new ConnectException()));
		thrown.put("ClientException<SocketTimeoutException>", new ClientException(new SocketTimeoutException()));
		thrown.put("ClientException<ConnectException>", new ClientException(new ConnectException()));
		thrown.put("RuntimeException<ClientException SERVER_THROTTLED>",
				new RuntimeException(new ClientException(ClientException.ErrorType.SERVER_THROTTLED)));
		for (int depth : new int[] { 9, 10 }) {
			Throwable nested = new ConnectException();
			String name = "ConnectException";
			for (int i = 0; i < depth; i++) {
				nested = new Exception(nested);
				name = "Exception<" + name + ">";
			}
			thrown.put(name, nested);
		}
		return thrown;
	}

}
