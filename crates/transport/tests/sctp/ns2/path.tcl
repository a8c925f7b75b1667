# An SCTP association between two hosts joined by n paths; the trace goes to out.tr. record.py takes from it when
# each DATA chunk joined the sender's queue, in seconds since the first, on which path, and its TSN.
#
#   ns path.tcl PATHS END RATE DELAY QUEUE CHANGE DROPS...
#
# END in s after 0.5, RATE in Mb/s, DELAY in ms (3 ms more on each further path), CHANGE when path 1 becomes primary,
# in s after the association's start, or -1; DROPS for each path numbers of packets lost on it (a list, counted from 0
# over all that leave the sender there).
foreach {paths end rate delay queue change} [lrange $argv 0 5] {}
set drops [lrange $argv 6 end]
set ns [new Simulator]
Trace set show_sctphdr_ 1
set out [open out.tr w]
$ns trace-all $out
Agent/SCTP set fastRtxTrigger_ 4
Agent/SCTP set dataChunkSize_ 1456
Agent/SCTP set initialRwnd_ 1310720
Agent/SCTP set heartbeatInterval_ 0
set a [$ns node]
set b [$ns node]
set sa [new Agent/SCTP]
set sb [new Agent/SCTP]
for {set i 0} {$i < $paths} {incr i} {
    set ai($i) [$ns node]
    set bi($i) [$ns node]
    $ns multihome-add-interface $a $ai($i)
    $ns multihome-add-interface $b $bi($i)
    $ns duplex-link $ai($i) $bi($i) ${rate}Mb [expr $delay + 3 * $i]ms DropTail
    $ns queue-limit $ai($i) $bi($i) $queue
    $ns queue-limit $bi($i) $ai($i) $queue
    if {[llength [lindex $drops $i]] > 0} {
        set lost [new ErrorModel/List]
        $lost droplist [lindex $drops $i]
        $lost drop-target [new Agent/Null]
        $ns link-lossmodel $lost $ai($i) $bi($i)
    }
}
$ns multihome-attach-agent $a $sa
$ns multihome-attach-agent $b $sb
$ns connect $sa $sb
set ftp [new Application/FTP]
$ftp attach-agent $sa
$sa set-primary-destination $bi(0)
if {$change >= 0} { $ns at [expr 0.5 + $change] "$sa set-primary-destination $bi(1)" }
$ns at 0.5 "$ftp start"
$ns at [expr 0.5 + $end] "finish"
proc finish {} {
    global ns out
    $ns flush-trace
    close $out
    exit 0
}
$ns run
