package oracle;

import java.util.Timer;
import java.util.TimerTask;

/** A timer whose tasks never run: the topics run what is due. */
public class StillTimer extends Timer {

	public StillTimer() {
		super(true);
	}

	public StillTimer(boolean isDaemon) {
		super(true);
	}

	public StillTimer(String name) {
		super(name, true);
	}

	public StillTimer(String name, boolean isDaemon) {
		super(name, true);
	}

	@Override
	public void schedule(TimerTask task, long delay) {
	}

	@Override
	public void schedule(TimerTask task, long delay, long period) {
	}

}
