# The network of Chan 2004, figures 3.3 and 3.11, in ns-2: pairs of hosts over one bottleneck.

Agent/TCP set window_ 1000
Agent/TCP set windowInit_ 1
Agent/TCP set packetSize_ 1000
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 1
Agent/TCP set singledup_ 0
Agent/TCP/Vegas set v_alpha_ 1
Agent/TCP/Vegas set v_beta_ 3
Agent/TCP/Vegas set v_gamma_ 1

set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 1.6Mb 20ms DropTail
$ns queue-limit $r1 $r2 50
$ns queue-limit $r2 $r1 50

# Hosts s(i) behind r1 and d(i) behind r2.
proc add_pair {i} {
    global ns r1 r2 s d
    set s($i) [$ns node]
    set d($i) [$ns node]
    $ns duplex-link $s($i) $r1 10Mb 1ms DropTail
    $ns duplex-link $r2 $d($i) 10Mb 1ms DropTail
}

# A greedy Vegas flow from s(i) to d(i); returns its sink.
proc add_vegas {i start_s} {
    global ns s d
    set tcp [new Agent/TCP/Vegas]
    set sink [new Agent/TCPSink]
    $ns attach-agent $s($i) $tcp
    $ns attach-agent $d($i) $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start_s "$ftp start"
    return $sink
}
