// One TCP stream over 1 Gbit/s in ns-3, for bench_tcp_bulk.py: the same path and buffers as ours.
//
// Simulates a second for each line that it reads, and answers with the data packets of that second.

#include <cstdint>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

namespace
{

constexpr uint32_t MSS_BYTES = 1448;
constexpr uint32_t BUFFER_BYTES = 131072;
constexpr uint16_t PORT = 5001;

void
SimulateFor(Time duration)
{
    Simulator::Stop(duration);
    Simulator::Run();
}

} // namespace

int
main()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpBic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS_BYTES));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER_BYTES));

    NodeContainer hosts;
    hosts.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    link.SetChannelAttribute("Delay", StringValue("50us"));
    NetDeviceContainer devices = link.Install(hosts);
    InternetStackHelper().Install(hosts);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

    const std::string protocol = "ns3::TcpSocketFactory";
    PacketSinkHelper receiver(protocol, InetSocketAddress(Ipv4Address::GetAny(), PORT));
    Ptr<PacketSink> sink = DynamicCast<PacketSink>(receiver.Install(hosts.Get(1)).Get(0));
    BulkSendHelper sender(protocol, InetSocketAddress(interfaces.GetAddress(1), PORT));
    sender.SetAttribute("SendSize", UintegerValue(MSS_BYTES));
    sender.Install(hosts.Get(0));

    SimulateFor(MilliSeconds(200));
    std::string line;
    while (std::getline(std::cin, line))
    {
        const uint64_t before_bytes = sink->GetTotalRx();
        SimulateFor(Seconds(1));
        std::cout << (sink->GetTotalRx() - before_bytes) / MSS_BYTES << std::endl;
    }
    Simulator::Destroy();
    return 0;
}
