-- The options that hops write, for Wireshark and tshark: AQT, and AVBW-S with DRAI.
--
--   tshark -X lua_script:hosts/wireshark/waymark.lua -r FILE -Y waymark -T fields -e waymark.aqt
--
-- In Wireshark: copy this file to the folder of personal Lua plugins (Help, About, Folders).
-- Formats: types 0x5E and 0xDE among the IPv4 options, lengths 8 and 4, fields in network order.

local AQT, AVBW_S = 0x5E, 0xDE
local LENGTHS = { [AQT] = 8, [AVBW_S] = 4 }
local SATURATED = 0xFFFFFF
local NO_HOP = 0xFF

local INDEX = {
  [1] = "aggressive deceleration",
  [2] = "moderate deceleration",
  [3] = "stabilizing II",
  [4] = "stabilizing I",
  [5] = "moderate acceleration",
  [6] = "aggressive acceleration",
  [NO_HOP] = "no hop has spoken",
}
local CI = { [0] = "not capable", [1] = "not used", [2] = "capable", [3] = "congestion experienced" }

local waymark = Proto("waymark", "Waymark congestion feedback")
local f = {
  aqt = ProtoField.uint24("waymark.aqt", "AQT (µs)", base.DEC),
  aqt_echo = ProtoField.uint24("waymark.aqt_echo", "AQT-Echo (µs)", base.DEC),
  drai = ProtoField.uint8("waymark.drai", "DRAI", base.DEC, INDEX),
  mrai_echo = ProtoField.uint8("waymark.mrai_echo", "MRAI-Echo", base.DEC, INDEX),
  ci = ProtoField.uint8("waymark.ci", "CI", base.DEC, CI, 0x03),
}
waymark.fields = { f.aqt, f.aqt_echo, f.drai, f.mrai_echo, f.ci }

local e = {
  saturated = ProtoExpert.new(
    "waymark.aqt.saturated", "AQT is saturated: at least this", expert.group.SEQUENCE,
    expert.severity.NOTE),
  malformed = ProtoExpert.new(
    "waymark.malformed", "Not the length that this option has: hops leave it alone",
    expert.group.MALFORMED, expert.severity.WARN),
}
waymark.experts = { e.saturated, e.malformed }

waymark.prefs.ci = Pref.bool(
  "The ECN field is CI", false, "Show the two bits of the ECN field as congestion indication")

local header_length = Field.new("ip.hdr_len")

local function add_aqt(tree, option)
  for field, at in pairs({ aqt = 2, aqt_echo = 5 }) do
    local item = tree:add(f[field], option(at, 3))
    if option(at, 3):uint() == SATURATED then
      item:add_proto_expert_info(e.saturated)
    end
  end
end

local function add_avbw_s(tree, option)
  tree:add(f.drai, option(2, 1))
  tree:add(f.mrai_echo, option(3, 1))
end

local ADD = { [AQT] = add_aqt, [AVBW_S] = add_avbw_s }

-- Calls each with the type and the octets of every option; stops where an option exceeds the list.
local function options(list, each)
  local at = 0
  while at < list:len() do
    local kind = list(at, 1):uint()
    if kind == 0 then
      return
    end
    local length = 1
    if kind ~= 1 then
      if at + 1 >= list:len() then
        return
      end
      length = list(at + 1, 1):uint()
      if length < 2 or at + length > list:len() then
        return
      end
      each(kind, list(at, length))
    end
    at = at + length
  end
end

function waymark.dissector(tvb, _, root)
  for _, info in ipairs({ header_length() }) do
    local start, length = info.offset, info.value
    local tree
    local function branch(range)
      tree = tree or root:add(waymark, range)
      return tree
    end
    if length > 20 and start + length <= tvb:len() then
      options(tvb(start + 20, length - 20), function(kind, option)
        if not LENGTHS[kind] then
          return
        end
        if option:len() ~= LENGTHS[kind] then
          branch(option):add_proto_expert_info(e.malformed)
          return
        end
        ADD[kind](branch(option), option)
      end)
    end
    if waymark.prefs.ci and start + 2 <= tvb:len() then
      branch(tvb(start + 1, 1)):add(f.ci, tvb(start + 1, 1))
    end
  end
end

register_postdissector(waymark)
