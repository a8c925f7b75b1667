-- TCP-INT (p4lang/p4app-TCP-INT), for Wireshark and tshark: TCP options of kind 0x72.
--
--   tshark -X lua_script:hosts/wireshark/tcp_int.lua -r FILE -Y tcp_int -T fields -e tcp_int.latency
--
-- In Wireshark: copy this file to the folder of personal Lua plugins (Help, About, Folders).

local KIND, LENGTH = 0x72, 12
local QUEUE = 0x80

local SPEED = {
  [0] = "another", [1] = "10 Gb/s", [2] = "25 Gb/s", [3] = "40 Gb/s", [4] = "50 Gb/s", [5] = "100 Gb/s",
  [6] = "200 Gb/s", [7] = "400 Gb/s",
}

local tcp_int = Proto("tcp_int", "TCP-INT")
local f = {
  frequency = ProtoField.uint8("tcp_int.tag_frequency", "Tag frequency", base.DEC, nil, 0xF0),
  speed = ProtoField.uint8("tcp_int.link_speed", "Link speed", base.DEC, SPEED, 0x0F),
  value = ProtoField.uint8("tcp_int.value", "INTval", base.HEX),
  hop = ProtoField.uint8("tcp_int.hop", "HopID (TTL)", base.DEC),
  latency = ProtoField.uint24("tcp_int.latency", "HopLat (256 ns)", base.DEC),
  value_echo = ProtoField.uint8("tcp_int.value_echo", "INTval-Echo", base.HEX),
  hop_echo = ProtoField.uint8("tcp_int.hop_echo", "HopID-Echo (64 - TTL)", base.DEC, nil, 0xF0),
  speed_echo = ProtoField.uint8("tcp_int.link_speed_echo", "Link-speed-Echo", base.DEC, SPEED, 0x0F),
  latency_echo = ProtoField.uint16("tcp_int.latency_echo", "HopLat-Echo", base.HEX),
}
tcp_int.fields = {
  f.frequency, f.speed, f.value, f.hop, f.latency, f.value_echo, f.hop_echo, f.speed_echo, f.latency_echo,
}
local malformed = ProtoExpert.new(
  "tcp_int.malformed", "Not 12 octets: hops leave it alone", expert.group.MALFORMED, expert.severity.WARN)
tcp_int.experts = { malformed }

local header_length = Field.new("tcp.hdr_len")

local function add(root, option)
  local tree = root:add(tcp_int, option)
  if option:len() ~= LENGTH then
    tree:add_proto_expert_info(malformed)
    return
  end
  tree:add(f.frequency, option(2, 1))
  tree:add(f.speed, option(2, 1))
  local value = option(3, 1):uint()
  local meaning = value < QUEUE and string.format(" (%.0f %% of the link)", value / 1.27)
    or string.format(" (%d octets waiting)", (value - QUEUE) * 8192)
  tree:add(f.value, option(3, 1)):append_text(meaning)
  tree:add(f.hop, option(4, 1))
  tree:add(f.latency, option(5, 3))
  tree:add(f.value_echo, option(8, 1))
  tree:add(f.hop_echo, option(9, 1))
  tree:add(f.speed_echo, option(9, 1))
  tree:add(f.latency_echo, option(10, 2))
end

function tcp_int.dissector(tvb, _, root)
  for _, info in ipairs({ header_length() }) do
    -- The length is in the header's 13th octet.
    local octets = info.source or tvb
    local start = info.offset - 12
    local at, stop = start + 20, start + info.value
    while stop <= octets:len() and at < stop do
      local kind = octets(at, 1):uint()
      if kind == 0 then
        break
      end
      local length = 1
      if kind ~= 1 then
        length = at + 1 < stop and octets(at + 1, 1):uint() or 0
        if length < 2 or at + length > stop then
          break
        end
        if kind == KIND then
          add(root, octets(at, length))
        end
      end
      at = at + length
    end
  end
end

register_postdissector(tcp_int)
