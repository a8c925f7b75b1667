// Feeds the control of the header CONTROL with events, one a line, and prints its window and threshold after each.
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

			if (scanf("%u %u %u %u %u %u %u %u %hhu", &ack.now_us, &ack.una, &ack.next, &ack.mss, &ack.newly,
				  &ack.in_flight, &ack.most, &ack.rtt_us, &ack.window_unused) != 9 ||
			    scanf("%u %hhu %u %u %hhu", &feedback.ack_seq, &feedback.carried, &feedback.aqt_echo_us,
				  &feedback.aqt_backward_us, &feedback.mrai) != 5)
				return 1;
			apply_feedback(&ack, &feedback);
			control_on_ack(&control, &ack);
		} else if (!strcmp(event, "loss")) {
			struct loss loss;

			if (scanf("%u %u %u %u %hhu", &loss.una, &loss.mss, &loss.window, &loss.ci_ack_seq,
				  &loss.ci_echoed) != 5)
				return 1;
			control_on_loss(&control, &loss);
		} else if (!strcmp(event, "recovered")) {
			control_on_recovered(&control);
		} else if (!strcmp(event, "timeout") && scanf("%u", &window) == 1) {
			control_on_timeout(&control, window);
		} else {
			return 1;
		}
		printf("%llu %llu\n", (unsigned long long)control_cwnd(&control),
		       (unsigned long long)control_ssthresh(&control));
	}
	return 0;
}
