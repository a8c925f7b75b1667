-- CSIG, congestion signaling (draft-ravi-ippm-csig-01), for Wireshark and tshark: the tag in front of IPv4.
--
--   tshark -X lua_script:hosts/wireshark/csig.lua -r FILE -Y csig -T fields -e csig.signal -e csig.band
--
-- In Wireshark: copy this file to the folder of personal Lua plugins (Help, About, Folders). No EtherType is assigned:
-- the preference csig.tpid is the domain's. Wireshark itself shows the reflection as an experimental TCP option.

local DEFAULT_TPID = 0x88B5
local LENGTH = 4

local SIGNAL = { [0] = "ABW (least)", [1] = "ABW/C (least)", [2] = "delay of a hop (greatest)" }

local csig = Proto("csig", "Congestion signaling")
local f = {
  signal = ProtoField.uint16("csig.signal", "Signal", base.DEC, SIGNAL, 0xE000),
  reserved = ProtoField.uint16("csig.reserved", "Reserved", base.DEC, nil, 0x1000),
  band = ProtoField.uint16("csig.band", "Band", base.DEC, nil, 0x0F80),
  locator = ProtoField.uint16("csig.locator", "Locator", base.DEC, nil, 0x007F),
  ethertype = ProtoField.uint16("csig.type", "Type", base.HEX),
}
csig.fields = { f.signal, f.reserved, f.band, f.locator, f.ethertype }

local malformed = ProtoExpert.new(
  "csig.malformed", "The packet behind the tag is cut or malformed", expert.group.MALFORMED, expert.severity.ERROR)
csig.experts = { malformed }

csig.prefs.tpid = Pref.uint("TPID", DEFAULT_TPID, "The EtherType of the tag, in decimal")

local ethertypes = DissectorTable.get("ethertype")

function csig.dissector(tvb, pinfo, root)
  if tvb:len() < LENGTH then
    return 0
  end
  local tag = tvb(0, 2)
  local tree = root:add(csig, tvb(0, LENGTH))
  tree:add(f.signal, tag)
  tree:add(f.reserved, tag)
  tree:add(f.band, tag)
  tree:add(f.locator, tag)
  tree:add(f.ethertype, tvb(2, 2))
  -- What the packet's dissector finds malformed is an error in Lua.
  if not pcall(ethertypes.try, ethertypes, tvb(2, 2):uint(), tvb(LENGTH):tvb(), pinfo, root) then
    tree:add_proto_expert_info(malformed)
  end
  return tvb:len()
end

local tpid = DEFAULT_TPID
ethertypes:add(tpid, csig)

function csig.prefs_changed()
  ethertypes:remove(tpid, csig)
  tpid = csig.prefs.tpid
  ethertypes:add(tpid, csig)
end
