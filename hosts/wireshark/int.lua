-- In-band network telemetry behind TCP and UDP (INT 2.1), for Wireshark and tshark.
--
--   tshark -X lua_script:hosts/wireshark/int.lua -r FILE -Y int -T fields -e int.hop.queue
--
-- The DSCP says that a packet has it: 23, as in the specification's example, or the preference int.dscp. The domain 0x5741
-- is Waymark's: its instructions 0 and 1 are the octets that a port sent and the rate of its line (HPCC).

local TYPES = { [1] = "MD", [2] = "destination", [3] = "MX" }
local TCP, UDP = 6, 17
local SHIM, HEADER = 4, 12
local DOMAIN = 0x5741

local int = Proto("int", "In-band Network Telemetry")
local f = {
  type = ProtoField.uint8("int.type", "Type", base.DEC, TYPES, 0xF0),
  words = ProtoField.uint8("int.words", "Length (words)", base.DEC),
  dscp = ProtoField.uint8("int.dscp", "DSCP before INT", base.DEC, nil, 0xFC),
  version = ProtoField.uint8("int.version", "Version", base.DEC, nil, 0xF0),
  exhausted = ProtoField.bool("int.exhausted", "Hop count exceeded (E)", 8, nil, 0x04),
  too_long = ProtoField.bool("int.too_long", "MTU exceeded (M)", 8, nil, 0x02),
  hop_words = ProtoField.uint8("int.hop_words", "Words of a record", base.DEC, nil, 0x1F),
  remaining = ProtoField.uint8("int.remaining", "Remaining hops", base.DEC),
  instructions = ProtoField.uint16("int.instructions", "Instructions", base.HEX),
  domain = ProtoField.uint16("int.domain", "Domain", base.HEX),
  domain_instructions = ProtoField.uint16("int.domain_instructions", "Instructions of the domain", base.HEX),
  domain_flags = ProtoField.uint16("int.domain_flags", "Flags of the domain", base.HEX),
  hop = ProtoField.bytes("int.hop", "Record"),
  node = ProtoField.uint32("int.hop.node", "Node", base.DEC),
  ingress = ProtoField.uint16("int.hop.ingress", "Ingress port", base.DEC),
  egress = ProtoField.uint16("int.hop.egress", "Egress port", base.DEC),
  latency = ProtoField.uint32("int.hop.latency", "Latency (ns)", base.DEC),
  queue_id = ProtoField.uint8("int.hop.queue_id", "Queue", base.DEC),
  queue = ProtoField.uint24("int.hop.queue", "Queue occupancy (octets)", base.DEC),
  arrival = ProtoField.uint64("int.hop.arrival", "Arrival (ns)", base.DEC),
  departure = ProtoField.uint64("int.hop.departure", "Departure (ns)", base.DEC),
  sent = ProtoField.uint32("int.hop.sent", "Octets sent", base.DEC),
  rate = ProtoField.uint32("int.hop.rate", "Rate (kb/s)", base.DEC),
  other = ProtoField.bytes("int.hop.other", "Other"),
}
local fields = {}
for _, field in pairs(f) do
  fields[#fields + 1] = field
end
int.fields = fields

local e = {
  malformed = ProtoExpert.new(
    "int.malformed", "No whole stack: hops leave it alone", expert.group.MALFORMED, expert.severity.WARN),
}
int.experts = { e.malformed }
int.prefs.dscp = Pref.uint("DSCP", 23, "The DSCP of packets with INT")

-- What the bits of the bitmap ask for, the most significant first.
local BASELINE = {
  { 4, f.node }, { 4 }, { 4, f.latency }, { 4 }, { 8, f.arrival }, { 8, f.departure }, { 8, f.other }, { 4, f.other },
  { 4, f.other }, { 4, f.other }, { 4, f.other }, { 4, f.other }, { 4, f.other }, { 4, f.other }, { 4, f.other },
}
BASELINE[2][2] = function(tree, range)
  tree:add(f.ingress, range(0, 2))
  tree:add(f.egress, range(2, 2))
end
BASELINE[4][2] = function(tree, range)
  tree:add(f.queue_id, range(0, 1))
  tree:add(f.queue, range(1, 3))
end
local OWN = { { 4, f.sent }, { 4, f.rate } }
local COMPLEMENT = { 4, f.other }

local function is_set(bitmap, bit)
  return math.floor(bitmap / 2 ^ (15 - bit)) % 2 == 1
end

-- What each record has, in order, and its octets.
local function layout(header)
  local parts, octets = {}, 0
  local function ask(part)
    parts[#parts + 1] = part
    octets = octets + part[1]
  end
  local asked, own = header(4, 2):uint(), header(8, 2):uint()
  for bit, part in ipairs(BASELINE) do
    if is_set(asked, bit - 1) then
      ask(part)
    end
  end
  if header(6, 2):uint() == DOMAIN then
    for bit, part in ipairs(OWN) do
      if is_set(own, bit - 1) then
        ask(part)
      end
    end
  end
  if is_set(asked, 15) then
    ask(COMPLEMENT)
  end
  return parts, octets
end

local function add_records(tree, header, stack)
  local parts, octets = layout(header)
  if octets == 0 or octets ~= 4 * (header(2, 1):uint() % 32) then
    return
  end
  for start = 0, stack:len() - octets, octets do
    local record = tree:add(f.hop, stack(start, octets))
    local at = start
    for _, part in ipairs(parts) do
      local range = stack(at, part[1])
      if type(part[2]) == "function" then
        part[2](record, range)
      else
        record:add(part[2], range)
      end
      at = at + part[1]
    end
  end
end

local header_length = Field.new("ip.hdr_len")
local dscp = Field.new("ip.dsfield.dscp")
local protocol = Field.new("ip.proto")
local total_length = Field.new("ip.len")
local more_fragments = Field.new("ip.flags.mf")
local fragment_offset = Field.new("ip.frag_offset")

-- Where the datagram ends: padding of the frame may follow. Fragments have no stack that hops read.
local function datagram_end(tvb, ip)
  local length, more, offset = total_length(), more_fragments(), fragment_offset()
  if length and more and offset and not more.value and offset.value == 0 then
    return math.min(ip.offset + length.value, tvb:len())
  end
end

-- Where the transport header ends; nothing for other protocols and for what is cut.
local function payload(tvb, at, kind)
  if kind == UDP then
    return at + 8
  end
  if kind == TCP and at + 13 <= tvb:len() then
    return at + 4 * math.floor(tvb(at + 12, 1):uint() / 16)
  end
end

function int.dissector(tvb, pinfo, root)
  local ip, marked, kind = header_length(), dscp(), protocol()
  if not (ip and marked and kind) or marked.value ~= int.prefs.dscp then
    return
  end
  local stop = datagram_end(tvb, ip)
  local start = stop and payload(tvb, ip.offset + ip.value, kind.value)
  if not start or start + SHIM > stop then
    return
  end
  local shim = tvb(start, SHIM)
  local octets = 4 * shim(1, 1):uint()
  local tree = root:add(int, tvb(start, math.min(SHIM + octets, stop - start)))
  tree:add(f.type, shim(0, 1))
  tree:add(f.words, shim(1, 1))
  tree:add(f.dscp, shim(3, 1))
  local known = TYPES[math.floor(shim(0, 1):uint() / 16)]
  if not known or octets < HEADER or start + SHIM + octets > stop then
    tree:add_proto_expert_info(e.malformed)
    return
  end
  local header = tvb(start + SHIM, HEADER)
  tree:add(f.version, header(0, 1))
  tree:add(f.exhausted, header(0, 1))
  tree:add(f.too_long, header(0, 1))
  tree:add(f.hop_words, header(2, 1))
  tree:add(f.remaining, header(3, 1))
  tree:add(f.instructions, header(4, 2))
  tree:add(f.domain, header(6, 2))
  tree:add(f.domain_instructions, header(8, 2))
  tree:add(f.domain_flags, header(10, 2))
  if octets > HEADER then
    add_records(tree, header, tvb(start + SHIM + HEADER, octets - HEADER))
  end
end

register_postdissector(int)
