// Feeds the control of the header CONTROL with events, one per line, and prints its window and threshold after each, and
// the pacing rate of a control that has one.
#include <stdio.h>
#include <string.h>

#include CONTROL

int main(void)
{
	struct control control;
	char event[16];

	while (scanf("%15s", event) == 1) {
		unsigned window, next, now;

		if (!strcmp(event, "start") && scanf("%u %u", &window, &next) == 2) {
			memset(&control, 0, sizeof(control));
			control_start(&control, window, next);
		} else if (!strcmp(event, "sent") && scanf("%u", &now) == 1) {
			control_on_sent(&control, now);
		} else if (!strcmp(event, "ack")) {
			struct feedback feedback = {};
			struct ack ack = {};

			if (scanf("%llu %u %u %u %u %u %u %u %hhu", &ack.now_us, &ack.una, &ack.next, &ack.mss, &ack.newly,
				  &ack.in_flight, &ack.most, &ack.rtt_us, &ack.window_unused) != 9 ||
			    scanf("%u %hhu %u %u %hhu", &feedback.ack_seq, &feedback.carried, &feedback.aqt_echo_us,
				  &feedback.aqt_backward_us, &feedback.mrai) != 5 ||
			    scanf("%hhu %hhu %u %u", &ack.ci_echo, &ack.app_limited, &ack.sent, &ack.lost) != 4)
				return 1;
			apply_feedback(&ack, &feedback);
			control_on_ack(&control, &ack);
		} else if (!strcmp(event, "loss")) {
			struct loss loss;

			if (scanf("%llu %u %u %u %u %hhu", &loss.now_us, &loss.una, &loss.mss, &loss.window,
				  &loss.ci_ack_seq, &loss.ci_echoed) != 6)
				return 1;
			control_on_loss(&control, &loss);
		} else if (!strcmp(event, "recovered")) {
			control_on_recovered(&control);
		} else if (!strcmp(event, "timeout") && scanf("%u", &window) == 1) {
			control_on_timeout(&control, window);
		} else {
			return 1;
		}
		printf("%llu %llu", control_cwnd(&control), control_ssthresh(&control));
#ifdef PACES
		printf(" %llu", control_rate(&control));
#endif
		printf("\n");
	}
	return 0;
}
